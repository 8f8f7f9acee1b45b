// What should be constant, and whether it is.
//
// Energy: total − work + physical loss cannot change but by the integrator, so its change is judged against the largest
// kinetic + elastic energy seen. Momenta: |p − p₀| and |L − L₀| against Σ|p| and Σ|r||p|. The reference is taken anew when
// the settings change or somebody touches the body.

import type { FrameInfo, PaneInfo, Vec3 } from "./protocol.ts";
import { share } from "./numbers.ts";

/** Below this a drift is what rounding and solver tolerances leave. */
const EXACT = 1e-6;
/** Beyond this a picture starts to look different. */
const VISIBLE = 0.01;
/** Swings of the energy that a symplectic method may have at a large step. */
const BAND = 0.15;

export type Grade = "exact" | "close" | "off" | "open";

export interface Verdict {
    what: "energy" | "linear" | "angular";
    name: string;
    grade: Grade;
    /** Relative; NaN if nothing is moving. */
    drift: number;
    text: string;
}

export class Reference {
    t = NaN;
    private balance = 0;
    private scale = 0;
    private p: Vec3 = [0, 0, 0];
    private l: Vec3 = [0, 0, 0];

    /** The next frame is the new reference. */
    restart(): void {
        this.t = NaN;
    }

    see(frame: FrameInfo): void {
        const { energy } = frame;
        if (!(frame.t >= this.t)) {
            this.t = frame.t;
            this.balance = balanceOf(frame);
            this.scale = 0;
            this.p = frame.momentum;
            this.l = frame.angular;
        }
        this.scale = Math.max(this.scale, energy.kinetic + Math.abs(energy.elastic));
    }

    /** What the total energy should be now. */
    expected(frame: FrameInfo): number {
        return this.balance + frame.energy.work - frame.energy.physical;
    }

    energyDrift(frame: FrameInfo): number {
        return this.scale > 0 ? (balanceOf(frame) - this.balance) / this.scale : NaN;
    }

    linearDrift(frame: FrameInfo): number {
        return relative(frame.momentum, this.p, frame.scale.momentum);
    }

    angularDrift(frame: FrameInfo): number {
        return relative(frame.angular, this.l, frame.scale.angular);
    }

    verdicts(pane: PaneInfo, frame: FrameInfo): Verdict[] {
        const { conserved } = pane;
        const list: Verdict[] = [];
        const energyName = conserved.energy ? "Energy" : "Energy balance";
        list.push(verdict("energy", energyName, this.energyDrift(frame), true, pane.keeps.bounded ?? false));
        list.push(verdict("linear", "Linear momentum", this.linearDrift(frame), conserved.linear));
        list.push(verdict("angular", "Angular momentum", this.angularDrift(frame), conserved.angular));
        return list;
    }
}

function balanceOf({ energy }: FrameInfo): number {
    return energy.total - energy.work + energy.physical;
}

function relative(now: Vec3, then: Vec3, scale: number): number {
    const drift = Math.hypot(now[0] - then[0], now[1] - then[1], now[2] - then[2]);
    return scale > 0 ? drift / scale : NaN;
}

export function grade(drift: number): Grade {
    const size = Math.abs(drift);
    if (Number.isNaN(size)) return "open";
    return size <= EXACT ? "exact" : size <= VISIBLE ? "close" : "off";
}

function verdict(what: Verdict["what"], name: string, drift: number, applies: boolean, bounded = false): Verdict {
    if (!applies) return { what, name, grade: "open", drift, text: "changed from outside" };
    // Symplectic steps let the energy swing, and bring it back.
    const swings = bounded && Math.abs(drift) > VISIBLE && Math.abs(drift) < BAND;
    const found = swings ? "close" : grade(drift);
    const size = share(Math.abs(drift));
    const text = {
        exact: `constant (${size})`,
        close: bounded ? `in its band (${size})` : `nearly constant (${size})`,
        off: what === "energy" ? (drift < 0 ? `${size} lost by the integrator` : `${size} gained by the integrator`) : `has drifted by ${size}`,
        open: "at rest",
    }[found];
    return { what, name, grade: found, drift, text };
}
