// Gestures with two fingers: a change of their distance zooms, a common movement moves the camera.

export interface Point {
    x: number;
    y: number;
}

/** The positions of the fingers, and how they changed. */
export class Pinch {
    private readonly fingers = new Map<number, Point>();

    /** Whether two fingers or more are down. */
    get active(): boolean {
        return this.fingers.size >= 2;
    }

    down(id: number, at: Point): void {
        this.fingers.set(id, at);
    }

    up(id: number): void {
        this.fingers.delete(id);
    }

    /** A finger moved. Returns the ratio of the distances between the first two, and the movement of their midpoint. */
    move(id: number, at: Point): { factor: number; dx: number; dy: number } | null {
        if (!this.fingers.has(id)) return null;
        const before = this.measure();
        this.fingers.set(id, at);
        const after = this.measure();
        if (!before || !after || before.apart === 0 || after.apart === 0) return null;
        return { factor: after.apart / before.apart, dx: after.x - before.x, dy: after.y - before.y };
    }

    private measure(): { apart: number; x: number; y: number } | null {
        const [a, b] = [...this.fingers.values()];
        return a && b ? { apart: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } : null;
    }
}
