/** Formats numbers, dates and names for people. */

const wholeNumber = new Intl.NumberFormat("en");
const dayFormat = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

/** "0.45 s", "4.2 s", "38 s", "1:05", "1:02:03" */
export function duration(seconds: number): string {
  if (seconds < 0.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const rounded = Math.round(seconds);
  if (rounded < 60) return `${rounded} s`;
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.floor(rounded / 60);
  if (minutes < 60) return `${minutes}:${two(rounded % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(rounded % 60)}`;
}

/** A time with two decimals: "0:04.25" */
export function timecode(seconds: number): string {
  const hundredths = Math.round(seconds * 100);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${Math.floor(hundredths / 6000)}:${two(Math.floor(hundredths / 100) % 60)}.${two(hundredths % 100)}`;
}

/** "812 B", "54 kB", "1.4 MB" */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0)} ${units[unit]}`;
}

/** "1,234" */
export function count(value: number): string {
  return wholeNumber.format(value);
}

/** "1 clip", "1,234 clips" */
export function countOf(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** "120 fps", "29.97 fps" */
export function fps(value: number): string {
  return `${Number(value.toFixed(2))} fps`;
}

/** "18 Nov 2026" */
export function date(value: string | Date): string {
  return dayFormat
    .formatToParts(new Date(value))
    .reduce((text, { type, value: part }) => text + (type === "literal" ? " " : part), "")
    .replace(/ +/g, " ");
}

const relativeTime = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const TIME_UNITS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
] as const;

/** "just now", "5 minutes ago", "yesterday", "12 days ago" */
export function ago(value: string | Date, now: number = Date.now()): string {
  const seconds = Math.max(0, (now - new Date(value).getTime()) / 1000);
  const unit = TIME_UNITS.find(([unitSeconds]) => seconds >= unitSeconds);
  return unit ? relativeTime.format(-Math.floor(seconds / unit[0]), unit[1]) : "just now";
}

/** The days left of a retention period: "29 days left", "deleted soon" */
export function daysLeft(since: string | Date, days: number, now: number = Date.now()): string {
  const remaining = Math.ceil(days - (now - new Date(since).getTime()) / 86_400_000);
  return remaining > 0 ? `${countOf(remaining, "day")} left` : "deleted soon";
}

/** "12.4 mm", "0.08 mm" */
export function millimetres(value: number): string {
  return `${value < 0.995 ? value.toFixed(2) : value < 99.5 ? value.toFixed(1) : value.toFixed(0)} mm`;
}

/** "left_upper_arm" -> "left upper arm", within a sentence */
export function humanize(name: string): string {
  return name.replaceAll("_", " ");
}

/** "left_upper_arm" -> "Left upper arm", as a label */
export function toLabel(name: string): string {
  const text = humanize(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
