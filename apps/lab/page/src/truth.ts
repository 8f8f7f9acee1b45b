// Which quantities should be constant, and whether they are: by the rule of the verdict of a run.
//
// Energy: only the integrator can change total − work + physical loss. The change is compared with the energy in play: the
// largest kinetic, elastic and other energy and gravity above its lowest value so far. Momenta: |p − p₀| and |L − L₀| against
// Σ|p| and Σ|r||p|. What round-off alone can make is neither a motion nor a change. A new reference is taken when settings
// change. What the user does to the body is work from outside, so it changes the reference of the momenta only.

import type { FrameInfo, PaneInfo, Vec3 } from "./protocol.ts";
import { share } from "./numbers.ts";

/** A smaller drift comes from rounding and solver tolerances. */
const EXACT = 1e-6;

export type Grade = "exact" | "close" | "off" | "open";

export interface Verdict {
    what: "energy" | "linear" | "angular";
    name: string;
    grade: Grade;
    /** Relative drift; NaN if nothing moves. */
    drift: number;
    text: string;
}

export class Reference {
    t = NaN;
    private balance = 0;
    /** Largest energy of motion, deformation and height, and lowest of height. */
    private highest = 0;
    private lowest = 0;
    private free = false;
    private p: Vec3 = [0, 0, 0];
    private l: Vec3 = [0, 0, 0];

    /** Takes the next frame as the new reference. */
    restart(): void {
        this.t = NaN;
    }

    /** The user acts on the body: the momenta of the next frame are the new reference. */
    touched(): void {
        this.free = false;
    }

    see(frame: FrameInfo): void {
        const { kinetic, elastic, gravity, other } = frame.energy;
        if (!(frame.t >= this.t)) {
            this.balance = balanceOf(frame);
            this.highest = -Infinity;
            this.lowest = Infinity;
            this.free = false;
        }
        this.t = Number.isNaN(this.t) || frame.t < this.t ? frame.t : this.t;
        if (!this.free || frame.grab) {
            this.p = frame.momentum;
            this.l = frame.angular;
            this.free = true;
        }
        this.highest = Math.max(this.highest, kinetic + Math.abs(elastic) + Math.abs(other) + gravity);
        this.lowest = Math.min(this.lowest, gravity);
    }

    /** What the total energy should be now. */
    expected(frame: FrameInfo): number {
        return this.balance + frame.energy.work - frame.energy.physical;
    }

    energyDrift(frame: FrameInfo): number {
        return relative(balanceOf(frame) - this.balance, this.highest - this.lowest, frame.round_off.energy);
    }

    linearDrift(frame: FrameInfo): number {
        return relative(distance(frame.momentum, this.p), frame.scale.momentum, frame.round_off.momentum);
    }

    angularDrift(frame: FrameInfo): number {
        return relative(distance(frame.angular, this.l), frame.scale.angular, frame.round_off.angular);
    }

    verdicts(pane: PaneInfo, frame: FrameInfo): Verdict[] {
        const { conserved, allowed, keeps } = pane;
        const energyName = conserved.energy ? "Energy" : "Energy balance";
        const outside = frame.grab ? "pulled" : "changed by external forces";
        return [
            energyVerdict(energyName, this.energyDrift(frame), allowed.energy, keeps.bounded ?? false),
            momentumVerdict("linear", "Linear momentum", this.linearDrift(frame), allowed.linear, conserved.linear && !frame.grab, outside),
            momentumVerdict("angular", "Angular momentum", this.angularDrift(frame), allowed.angular, conserved.angular && !frame.grab, outside),
        ];
    }
}

function balanceOf({ energy }: FrameInfo): number {
    return energy.total - energy.work + energy.physical;
}

function distance(now: Vec3, then: Vec3): number {
    return Math.hypot(now[0] - then[0], now[1] - then[1], now[2] - then[2]);
}

function relative(change: number, scale: number, roundOff: number): number {
    if (Math.abs(change) > roundOff) return scale > 0 ? change / scale : NaN;
    return scale > roundOff ? 0 : NaN;
}

export function grade(drift: number, allowed: number): Grade {
    const size = Math.abs(drift);
    if (Number.isNaN(size)) return "open";
    return size > allowed ? "off" : size <= EXACT ? "exact" : "close";
}

function energyVerdict(name: string, drift: number, allowed: number, bounded: boolean): Verdict {
    const size = share(Math.abs(drift));
    const found = grade(drift, allowed);
    const text = {
        exact: `constant (${size})`,
        close: bounded ? `bounded (${size})` : `nearly constant (${size})`,
        off: bounded ? `off by ${size}, more than ${share(allowed)}` : `${size} ${drift < 0 ? "lost" : "gained"} by the integrator`,
        open: "at rest",
    }[found];
    return { what: "energy", name, grade: found, drift, text };
}

function momentumVerdict(what: "linear" | "angular", name: string, drift: number, allowed: number, applies: boolean, outside: string): Verdict {
    if (!applies) return { what, name, grade: "open", drift, text: outside };
    const size = share(Math.abs(drift));
    const found = grade(drift, allowed);
    return { what, name, grade: found, drift, text: { exact: `constant (${size})`, close: `nearly constant (${size})`, off: `has drifted by ${size}`, open: "at rest" }[found] };
}
