// The messages of ../../PROTOCOL.md as types.

export type Vec3 = [number, number, number];
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const FIELDS = ["none", "von_mises", "energy", "speed", "material"] as const;
export type FieldName = (typeof FIELDS)[number];

export interface Change {
    path: string;
    value: Json;
}

export interface Show {
    field: FieldName;
    forces: boolean;
    contacts: boolean;
}

export type Request =
    | { do: "open"; scene: string }
    | { do: "open"; text: string; name: string }
    | { do: "gallery"; name: string }
    | { do: "mesh"; name: string }
    | { do: "play" | "pause" | "step" | "reset" | "undo" | "release" | "split" }
    | { do: "speed"; value: number | null }
    | { do: "budget"; ms: number }
    | { do: "realtime"; on: boolean }
    | { do: "set"; pane: number | null; changes: Change[] }
    | { do: "grab"; pane: number; vertex: number; to: Vec3 }
    | { do: "pin"; pane: number; vertices: number[] }
    | { do: "unpin"; pane: number; vertices?: number[] }
    | { do: "force"; pane: number; vertices: number[]; force: Vec3 }
    | { do: "kick"; pane: number; vertices?: number[]; momentum: Vec3 }
    | { do: "throw"; pane: number; velocity: Vec3 }
    | { do: "close"; pane: number }
    | ({ do: "show" } & Show)
    | { do: "check"; pane: number }
    | { do: "compare"; pane: number; integrators: string[]; steps: number[]; end: number; budget: number }
    | { do: "coarsen"; pane: number; method: string; tets: number; modes: number; body?: string }
    | { do: "cancel" }
    | { do: "save"; pane: number; state: boolean };

export interface IntegratorOption {
    name: string;
    summary: string;
    kind: "number" | "whole" | "flag" | "word";
    default: Json;
    /** Of a word; of a number, a word that it may be instead. */
    choices?: string[] | null;
    range?: [number, number] | null;
}

export interface Integrator {
    name: string;
    summary: string;
    explicit: boolean;
    options: IntegratorOption[];
}

export interface Named {
    name: string;
    summary: string;
}

export interface GalleryEntry extends Named {
    title: string;
    look: string;
}

export interface Catalogue {
    integrators: Integrator[];
    materials: Named[];
    scenes: Named[];
    gallery: GalleryEntry[];
    coarsening: Named[];
}

export interface Hello {
    event: "hello";
    session: string;
    version: string;
    catalogue: Catalogue;
    limits: { tets: number; panes: number; upload_bytes: number };
}

export interface Status {
    event: "status";
    running: boolean;
    speed: number | null;
    budget_ms: number;
    realtime: boolean;
    can_undo: string | null;
    show: Show;
}

export interface Three {
    energy: boolean;
    linear: boolean;
    angular: boolean;
}

export interface PaneInfo {
    title: string;
    label: string;
    scene: JsonObject;
    integrator: string;
    step: number;
    elements: number;
    vertices: number;
    conserved: Three;
    keeps: Three & { bounded?: boolean };
    stability: { limit: number; share: number; text: string } | null;
    warnings: string[];
    notes: string[];
}

export interface Remedy {
    label: string;
    messages: Request[];
}

export interface Failure {
    event: "failure";
    pane: number;
    text: string;
    remedies: Remedy[];
}

export type JobKind = "check" | "compare" | "coarsen";

export interface Job {
    event: "job";
    job: number;
    kind: JobKind;
    pane: number;
    title: string;
    state: "running" | "cancelling" | "done" | "failed" | "cancelled";
    text: string;
    share: number;
    result: JsonObject | null;
}

export interface CheckResult {
    integrator: string;
    step: number;
    bodies: { name: string; vertices: number; elements: number; size: number[]; min_dihedral_degrees?: number; max_dihedral_degrees?: number }[];
    spectrum: {
        highest_hz: number;
        stable_steps?: Record<string, number | null>;
        lowest?: { hz: number; amplitude_lost_per_period: number | null; frequency_ratio: number | null }[];
    } | null;
    memory_mb: { explicit: number; implicit: number };
    conserved: { energy: boolean; linear_momentum: boolean; angular_momentum: boolean };
    warnings: string[];
    notes: string[];
}

export interface CompareResult {
    end: number;
    reference: string;
    table: string[][];
    advice: { goal: string; text: string; integrator: string | null; step: number | null }[];
    notes: string[];
}

export interface CoarsenResult {
    fine: { tets: number };
    coarse: { tets: number };
    frequencies: { until: number | null; accepted: boolean; modes: { fine_hz: number; coarse_hz: number; corrected_hz?: number; overlap: number }[] }[];
    notes: string[];
    opened: boolean;
}

export type ServerEvent =
    | Hello
    | Status
    | { event: "panes"; panes: PaneInfo[] }
    | { event: "error"; text: string; request?: string | null }
    | { event: "notice"; text: string }
    | Failure
    | Job
    | { event: "file"; name: string; text: string };

export type Obstacle =
    | { kind: "plane"; point: Vec3; normal: Vec3 }
    | { kind: "sphere"; center: Vec3; radius: number; inside: boolean };

export interface GeometryInfo {
    bodies: { name: string; first: number; count: number }[];
    obstacles: Obstacle[];
    up: Vec3;
    /** Longest edge of the box around the bodies at rest, m. */
    size: number;
    bounds: [Vec3, Vec3];
}

/** One pane's shape as the server sent it. */
export interface Geometry extends GeometryInfo {
    triangles: Uint32Array;
    lines: Uint32Array;
    points: Uint32Array;
    pinned: Uint32Array;
    material: Float32Array;
    rest: Float32Array;
}

export interface Energy {
    kinetic: number;
    elastic: number;
    gravity: number;
    other: number;
    total: number;
    work: number;
    physical: number;
    numerical: number;
}

export interface RealTime {
    /** Simulated seconds per second. */
    pace: number | null;
    /** Time that the motion takes, as a part of what it may take. */
    load: number;
    /** From 0 to 1: all that the scene asks for. */
    effort: number;
    overrun: boolean;
    /** In force and asked for; `null` where a step has nothing to be cut. */
    tolerance: number | null;
    asked: number | null;
}

export interface FrameInfo {
    t: number;
    step: number;
    energy: Energy;
    momentum: Vec3;
    angular: Vec3;
    scale: { momentum: number; angular: number };
    cost_ms: number;
    newton: number;
    behind: number;
    /** While real-time mode is on: how the last quarter of a second went, and what is in force. */
    realtime: RealTime | null;
    /** Steps on the way to this state that ended before their tolerance. */
    cuts: { steps: number; of: number; worst: number } | null;
    cut: string | null;
    grab: { vertex: number; to: Vec3; force: number | Vec3 } | null;
    range: [number, number] | null;
}

/** One pane at one time. */
export interface Frame extends FrameInfo {
    positions: Float32Array;
    field: Float32Array | null;
    forces: Float32Array | null;
    contacts: Float32Array | null;
}
