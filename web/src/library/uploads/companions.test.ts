import { describe, expect, it } from "vitest";
import { groupCompanions } from "./companions";

type Content = string | ArrayBuffer;

/** Groups files, given as paths or with content, and joins their names. */
async function groupNames(...paths: (string | [string, Content])[]): Promise<string> {
  const files = paths.map((each) => {
    const [path, content] = typeof each === "string" ? [each, ""] : each;
    const cut = path.lastIndexOf("/");
    return { file: new File([content], path.slice(cut + 1)), folder: path.slice(0, Math.max(0, cut)) };
  });
  const { groups, unused } = await groupCompanions(files);
  const names = groups.map(({ file, companions }) => [file, ...companions].map(({ name }) => name).join(" + "));
  return [...names, ...(unused ? [`${unused} spare`] : [])].join(", ");
}

const gltf = (...uris: string[]) => JSON.stringify({ asset: {}, buffers: uris.map((uri) => ({ uri })) });

describe("an .amc and its .asf", () => {
  it("are grouped by name, by subject, or as the only ones in the folder", async () => {
    const two = await groupNames("07.asf", "07_05.amc", "09.asf", "09_06.amc.gz");
    expect(two).toBe("07_05.amc + 07.asf, 09_06.amc.gz + 09.asf");
    expect(await groupNames("walk.amc", "walk.asf", "other.asf")).toBe("walk.amc + walk.asf, other.asf");
    expect(await groupNames("run.amc", "figure.ASF", "walk.bvh")).toBe("run.amc + figure.ASF, walk.bvh");
    expect(await groupNames("a/07.asf", "a/07_1.amc", "a/07_2.amc")).toBe("07_1.amc + 07.asf, 07_2.amc + 07.asf");
  });

  it("are not grouped if it is uncertain that they belong together", async () => {
    expect(await groupNames("07.asf")).toBe("07.asf");
    expect(await groupNames("a/07.asf", "b/07_05.amc")).toBe("07.asf, 07_05.amc");
    expect(await groupNames("09.asf", "07_05.amc")).toBe("09.asf, 07_05.amc");
    expect(await groupNames("a.asf", "b.asf", "c.amc")).toBe("a.asf, b.asf, c.amc");
  });
});

describe("a .gltf and its buffers", () => {
  it("are grouped by the names in the .gltf", async () => {
    expect(await groupNames("x.bin", ["walk.gltf", gltf("x.bin")])).toBe("walk.gltf + x.bin");
    const multiple = gltf("a.bin", "./b%20c.bin", "data:;base64,AAAA");
    expect(await groupNames(["w.gltf", multiple], "b c.bin", "a.bin")).toBe("w.gltf + b c.bin + a.bin");
    expect(await groupNames("u\u0308.bin", ["w.gltf", gltf("%C3%BC.bin")])).toBe("w.gltf + u\u0308.bin");
    const gzipped = new Blob([gltf("x.bin")]).stream().pipeThrough(new CompressionStream("gzip"));
    expect(await groupNames("x.bin", ["w.gltf.gz", await new Response(gzipped).arrayBuffer()])).toBe(
      "w.gltf.gz + x.bin",
    );
  });

  it("are grouped correctly in a folder with others", async () => {
    const files: (string | [string, Content])[] = [
      "a/07.asf",
      "a/07_1.amc",
      "a/x.bin",
      "a/y.bin",
      "a/z.bin",
      "b/x.bin",
    ];
    const scenes: [string, Content][] = [
      ["a/one.gltf", gltf("y.bin")],
      ["a/two.gltf", gltf("x.bin", "y.bin")],
      ["b/two.gltf", gltf("x.bin")],
    ];
    expect(await groupNames(...files, ...scenes)).toBe(
      "07_1.amc + 07.asf, one.gltf + y.bin, two.gltf + x.bin + y.bin, two.gltf + x.bin, 1 spare",
    );
  });

  it("are not grouped without a reference", async () => {
    for (const text of ["", "{", "[]", "null", gltf("../x.bin"), gltf("%"), gltf("/x.bin"), gltf("http://y/x.bin")]) {
      expect(await groupNames("x.bin", ["walk.gltf", text])).toBe("x.bin, walk.gltf"); // picked individually: the server reports the error
      expect(await groupNames("a/x.bin", ["a/walk.gltf", text])).toBe("walk.gltf, 1 spare");
    }
    expect(await groupNames("a/x.bin", ["b/walk.gltf", gltf("x.bin")])).toBe("walk.gltf, 1 spare");
    expect(await groupNames("a/.x.bin", "x.bin.gz")).toBe(".x.bin, x.bin.gz");
  });
});
