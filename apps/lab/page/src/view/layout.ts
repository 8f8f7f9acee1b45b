// The layout of the panes in the window.

export interface Rectangle {
    x: number;
    /** Distance from the top. */
    y: number;
    width: number;
    height: number;
}

/** The grid whose cells are nearest to 4:3, filled row by row. The last row may have fewer, wider cells. */
export function layout(count: number, width: number, height: number): Rectangle[] {
    let columns = 1;
    let best = Infinity;
    for (let tried = 1; tried <= count; tried++) {
        const rows = Math.ceil(count / tried);
        const misfit = Math.abs(Math.log(width / tried / (height / rows) / (4 / 3))) + 0.2 * (tried * rows - count);
        if (misfit < best) {
            best = misfit;
            columns = tried;
        }
    }
    const rows = Math.ceil(count / columns);
    return Array.from({ length: count }, (_, k) => {
        const row = Math.floor(k / columns);
        const column = k % columns;
        const members = Math.min(columns, count - row * columns);
        const left = Math.round((column * width) / members);
        const top = Math.round((row * height) / rows);
        return { x: left, y: top, width: Math.round(((column + 1) * width) / members) - left, height: Math.round(((row + 1) * height) / rows) - top };
    });
}
