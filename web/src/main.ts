/** The entry point: styles, theme, top bar, shortcuts, then the page of the address. */

import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/overlays.css";
import "./styles/shell.css";
import { startRouter } from "./router";
import { listenForKeys } from "./ui/commands";
import { buildShell } from "./ui/shell";
import { startTheme } from "./ui/theme";

startTheme();
buildShell();
listenForKeys();
startRouter();
