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
    /** The whole force on each vertex, and that from outside. */
    forces: boolean;
    outside: boolean;
    /** The momentum of each vertex. */
    momenta: boolean;
    contacts: boolean;
    /** Vertices inside of solids. */
    inside: boolean;
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
    | { do: "set"; pane: number | null; changes: Change[]; drag?: number }
    | { do: "grab"; pane: number; vertex: number; to: Vec3 }
    | { do: "pin"; pane: number; vertices: number[] }
    | { do: "unpin"; pane: number; vertices?: number[] }
    | { do: "force"; pane: number; vertices: number[]; force: Vec3 }
    | { do: "kick"; pane: number; vertices?: number[]; momentum: Vec3 }
    | { do: "throw"; pane: number; velocity: Vec3 }
    | { do: "velocity"; pane: number; vertices?: number[]; velocity: Vec3 }
    | { do: "momentum"; pane: number; vertices?: number[]; momentum: Vec3 }
    | { do: "place"; pane: number; vertex: number; at: Vec3; seconds: number }
    | { do: "watch"; pane: number; vertex: number | null }
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
    /** The choices of a word; for a number, a word that can replace it. */
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

/** A number of a damping model or a contact. */
export interface ModelNumber extends Named {
    unit: string;
    /** A typical value. */
    example: number;
}

/** A damping model or a kind of contact. */
export interface Model extends Named {
    numbers: ModelNumber[];
    /** The table of the scene with values to start with. */
    start: JsonObject;
}

export interface Catalogue {
    integrators: Integrator[];
    materials: Named[];
    damping: Model[];
    contacts: Model[];
    scenes: Named[];
    gallery: GalleryEntry[];
    coarsening: Named[];
    meshes: (Named & { extensions: string[] })[];
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
    /** The relative drift up to which the verdict of a run passes. */
    allowed: { energy: number; linear: number; angular: number };
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
    code?: string;
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
    | { event: "error"; text: string; code?: string; request?: string | null }
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

/** The geometry of one pane, as the server sent it. */
export interface Geometry extends GeometryInfo {
    triangles: Uint32Array;
    lines: Uint32Array;
    points: Uint32Array;
    pinned: Uint32Array;
    material: Float32Array;
    rest: Float32Array;
    /** Four vertices per tet, if vertices inside of solids are shown. */
    tets: Uint32Array;
    /** Vertices that remain after a cut; absent: all. */
    kept?: Uint32Array;
}

/** The vertex whose numbers frames contain. */
export interface Watched {
    /** Its number among the drawn vertices, if it is drawn. */
    vertex: number | null;
    body: string;
    /** Its number in its body. */
    number: number;
    mass: number;
    position: Vec3;
    velocity: Vec3;
    momentum: Vec3;
    /** From outside, without contact. */
    force: Vec3;
    held: boolean;
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
    /** Time that the motion takes, divided by the time that it may take. */
    load: number;
    /** From 0 to 1; 1 is the accuracy of the scene. */
    effort: number;
    overrun: boolean;
    /** In force, and of the scene; `null` for methods that cannot solve less accurately. */
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
    /** What round-off alone can have made by now. */
    round_off: { energy: number; momentum: number; angular: number };
    cost_ms: number;
    newton: number;
    behind: number;
    /** Real-time mode in the last quarter of a second; `null` if it is off. */
    realtime: RealTime | null;
    /** Steps on the way to this state that ended before they reached the tolerance of the scene. */
    cuts: { steps: number; of: number; worst: number } | null;
    cut: string | null;
    grab: { vertex: number; to: Vec3; force: number | Vec3 } | null;
    range: [number, number] | null;
    watched: Watched | null;
}

/** The state of one pane at one time. */
export interface Frame extends FrameInfo {
    positions: Float32Array;
    field: Float32Array | null;
    forces: Float32Array | null;
    outside: Float32Array | null;
    momenta: Float32Array | null;
    contacts: Float32Array | null;
}
