import { describe, expect, it } from "vitest";
import { gathered } from "./companions";

type Content = string | ArrayBuffer;

/** What becomes of files, by path or with their content. */
async function said(...paths: (string | [string, Content])[]): Promise<string> {
  const found = paths.map((each) => {
    const [path, content] = typeof each === "string" ? [each, ""] : each;
    const cut = path.lastIndexOf("/");
    return { file: new File([content], path.slice(cut + 1)), folder: path.slice(0, Math.max(0, cut)) };
  });
  const { takes, spare } = await gathered(found);
  const told = takes.map(({ file, companions }) => [file, ...companions].map(({ name }) => name).join(" + "));
  return [...told, ...(spare ? [`${spare} spare`] : [])].join(", ");
}

const gltf = (...uris: string[]) => JSON.stringify({ asset: {}, buffers: uris.map((uri) => ({ uri })) });

describe("an .amc and its .asf", () => {
  it("travel together: by the same name, by the subject, or the only one of the folder", async () => {
    const two = await said("07.asf", "07_05.amc", "09.asf", "09_06.amc.gz");
    expect(two).toBe("07_05.amc + 07.asf, 09_06.amc.gz + 09.asf");
    expect(await said("walk.amc", "walk.asf", "other.asf")).toBe("walk.amc + walk.asf, other.asf");
    expect(await said("run.amc", "figure.ASF", "walk.bvh")).toBe("run.amc + figure.ASF, walk.bvh");
    expect(await said("a/07.asf", "a/07_1.amc", "a/07_2.amc")).toBe("07_1.amc + 07.asf, 07_2.amc + 07.asf");
  });

  it("are left apart where it is not known that they belong together", async () => {
    expect(await said("07.asf")).toBe("07.asf");
    expect(await said("a/07.asf", "b/07_05.amc")).toBe("07.asf, 07_05.amc");
    expect(await said("09.asf", "07_05.amc")).toBe("09.asf, 07_05.amc");
    expect(await said("a.asf", "b.asf", "c.amc")).toBe("a.asf, b.asf, c.amc");
  });
});

describe("a .gltf and its buffers", () => {
  it("travel together by the names that it says", async () => {
    expect(await said("x.bin", ["walk.gltf", gltf("x.bin")])).toBe("walk.gltf + x.bin");
    const several = gltf("a.bin", "./b%20c.bin", "data:;base64,AAAA");
    expect(await said(["w.gltf", several], "b c.bin", "a.bin")).toBe("w.gltf + b c.bin + a.bin");
    expect(await said("u\u0308.bin", ["w.gltf", gltf("%C3%BC.bin")])).toBe("w.gltf + u\u0308.bin");
    const packed = new Blob([gltf("x.bin")]).stream().pipeThrough(new CompressionStream("gzip"));
    expect(await said("x.bin", ["w.gltf.gz", await new Response(packed).arrayBuffer()])).toBe("w.gltf.gz + x.bin");
  });

  it("each find their own in a folder with others", async () => {
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
    expect(await said(...files, ...scenes)).toBe(
      "07_1.amc + 07.asf, one.gltf + y.bin, two.gltf + x.bin + y.bin, two.gltf + x.bin, 1 spare",
    );
  });

  it("are left apart where nothing says that they belong together", async () => {
    for (const text of ["", "{", "[]", "null", gltf("../x.bin"), gltf("%"), gltf("/x.bin"), gltf("http://y/x.bin")]) {
      expect(await said("x.bin", ["walk.gltf", text])).toBe("x.bin, walk.gltf"); // picked by hand: told by the server
      expect(await said("a/x.bin", ["a/walk.gltf", text])).toBe("walk.gltf, 1 spare");
    }
    expect(await said("a/x.bin", ["b/walk.gltf", gltf("x.bin")])).toBe("walk.gltf, 1 spare");
    expect(await said("a/.x.bin", "x.bin.gz")).toBe(".x.bin, x.bin.gz");
  });
});
