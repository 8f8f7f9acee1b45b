import { expect, test } from "vitest";
import { ramp, viridis } from "../../src/colors.ts";
import { linear, logarithmic, niceStep, share, short, tick, withUnit } from "../../src/numbers.ts";
import { at, floorOf, formatValue, gravityOf, nextIntegrator, parseValue } from "../../src/scene.ts";
import { crc32, zip } from "../../src/zip.ts";

test("numbers as people read them", () => {
    expect([0, 1, 0.004, 12345, 123456, 1e-7, 0.30000000000000004].map((x) => short(x))).toEqual(["0", "1", "0.004", "12345", "1.23e5", "1e-7", "0.3"]);
    expect(withUnit(12345, "N")).toBe("12.3 kN");
    expect([4905, 4905.02, 4905.04].map((x) => tick(x, 0.02))).toEqual(["4905", "4905.02", "4905.04"]);
    expect([0.1, 1e-12, 20_000].map((x) => tick(x, 0.1))).toEqual(["0.1", "0", "20000"]);
    expect(withUnit(0.0021, "s")).toBe("2.1 ms");
    expect(withUnit(999.9, "Pa")).toBe("1 kPa");
    expect(share(0.123)).toBe("12 %");
    expect(share(-0.9996)).toBe("-100 %");
    expect(share(3e-16)).toBe("3e-16");
});

test("sliders go there and back", () => {
    const log = logarithmic(1e2, 1e12);
    expect(log.fromUnit(log.toUnit(1e5))).toBe(1e5);
    expect(log.toUnit(0)).toBe(0);
    const cells = linear(1, 40, 1);
    expect(cells.fromUnit(cells.toUnit(7))).toBe(7);
    expect(niceStep(10, 5)).toBe(2);
});

test("values in a scene by their paths", () => {
    const scene = { body: [{ material: { E: 1e5 } }], environment: { gravity: [0, -10, 0] }, contact: [{ kind: "self" }, { kind: "plane" }] };
    expect(at(scene, "body.0.material.E")).toBe(1e5);
    expect(at(scene, "body.1.material.E")).toBeUndefined();
    expect(gravityOf(scene)).toEqual({ strength: 10, direction: [0, -1, 0] });
    expect(gravityOf({ environment: { gravity: [0, "sin(t)", 0] } })).toBeNull();
    expect(floorOf(scene)).toBe(1);
    expect(floorOf({})).toBe(-1);
    expect(nextIntegrator({ name: "a", tolerance: 1e-8, alpha: 0.5 }, "b", ["tolerance"])).toEqual({ name: "b", tolerance: 1e-8 });
});

test("what is typed is read as it was shown", () => {
    for (const value of [1e-5, true, "text", "12", "true", [1, 2], "1e6 + 1e8*(x>2)", null]) expect(parseValue(formatValue(value))).toEqual(value);
});

test("colours run from dark blue to yellow", () => {
    expect(viridis(0)).toEqual([68, 1, 84]);
    expect(viridis(1)).toEqual([253, 231, 37]);
    expect(ramp(16).length).toBe(64);
});

test("a ZIP has its signatures, names and sums", async () => {
    expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
    const data = Uint8Array.of(1, 2, 3);
    const bytes = new DataView(await zip([{ name: "a.png", data }, { name: "b.png", data }]).arrayBuffer());
    expect(bytes.getUint32(0, true)).toBe(0x04034b50);
    expect(bytes.getUint32(14, true)).toBe(crc32(data));
    const end = bytes.byteLength - 22;
    expect(bytes.getUint32(end, true)).toBe(0x06054b50);
    expect(bytes.getUint16(end + 10, true)).toBe(2);
    const directory = bytes.getUint32(end + 16, true);
    expect(bytes.getUint32(directory, true)).toBe(0x02014b50);
    expect(bytes.getUint32(directory + 42, true)).toBe(0);
});
