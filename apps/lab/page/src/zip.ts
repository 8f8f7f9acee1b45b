// A ZIP archive without compression, since pictures are compressed already. [PKWARE APPNOTE 6.3]

const TABLE = new Uint32Array(256).map((_, n) => {
    let c = n;
    for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    return c;
});

export function crc32(data: Uint8Array): number {
    let c = 0xffffffff;
    for (let k = 0; k < data.length; k++) c = TABLE[(c ^ data[k]!) & 255]! ^ (c >>> 8);
    return (c ^ 0xffffffff) >>> 0;
}

export function zip(files: { name: string; data: Uint8Array }[]): Blob {
    const parts: Uint8Array[] = [];
    const directory: Uint8Array[] = [];
    let offset = 0;
    for (const { name, data } of files) {
        const path = new TextEncoder().encode(name);
        const common = [20, 0, 0, 0, 0x21, crc32(data), data.length, data.length, path.length, 0];
        const local = record(0x04034b50, common, path);
        directory.push(record(0x02014b50, [20, ...common, 0, 0, 0, 0, offset], path));
        parts.push(local, data);
        offset += local.length + data.length;
    }
    const size = directory.reduce((sum, entry) => sum + entry.length, 0);
    const end = new DataView(new ArrayBuffer(22));
    end.setUint32(0, 0x06054b50, true);
    end.setUint16(8, files.length, true);
    end.setUint16(10, files.length, true);
    end.setUint32(12, size, true);
    end.setUint32(16, offset, true);
    return new Blob([...parts, ...directory, new Uint8Array(end.buffer)] as BlobPart[], { type: "application/zip" });
}

/** Widths of the numbers of a header after its signature, in bytes. */
const LOCAL = [2, 2, 2, 2, 2, 4, 4, 4, 2, 2];
const CENTRAL = [2, ...LOCAL, 2, 2, 2, 4, 4];

function record(signature: number, numbers: number[], path: Uint8Array): Uint8Array {
    const widths = numbers.length === LOCAL.length ? LOCAL : CENTRAL;
    const bytes = 4 + widths.reduce((sum, width) => sum + width, 0);
    const header = new DataView(new ArrayBuffer(bytes + path.length));
    header.setUint32(0, signature, true);
    let at = 4;
    for (const [k, width] of widths.entries()) {
        if (width === 2) header.setUint16(at, numbers[k]!, true);
        else header.setUint32(at, numbers[k]!, true);
        at += width;
    }
    new Uint8Array(header.buffer).set(path, at);
    return new Uint8Array(header.buffer);
}
