// What the page knows about the simulation. All requests go through this class.

import { Connection, type Link } from "./connection.ts";
import type {
    Catalogue, Change, Failure, Frame, Geometry, Hello, Job, Json, PaneInfo, Request, ServerEvent, Show, Status,
} from "./protocol.ts";
import type { Binary } from "./wire.ts";

export interface Topics {
    hello: Hello;
    status: Status;
    panes: PaneInfo[];
    geometry: Geometry[];
    frame: Frame[];
    error: { text: string; request: string | null };
    notice: string;
    failure: Failure;
    job: Job;
    file: { name: string; text: string };
    link: { state: Link; attempt: number };
    /** The user acted on the body, so that conserved quantities get a new reference. */
    touched: number;
    /** The settings are for another pane now. */
    target: number | null;
    /** The server has ended the session; these are the panes that the page remembers. */
    forgotten: PaneInfo[];
}

type Handler<T> = (value: T) => void;

export class Lab {
    catalogue: Catalogue = { integrators: [], materials: [], damping: [], contacts: [], scenes: [], gallery: [], coarsening: [], meshes: [] };
    limits = { tets: Infinity, panes: 4, upload_bytes: Infinity };
    status: Status = {
        event: "status", running: false, speed: 1, budget_ms: 16, realtime: false, can_undo: null,
        show: { field: "none", forces: false, outside: false, momenta: false, contacts: false, inside: false },
    };
    panes: PaneInfo[] = [];
    geometry: Geometry[] = [];
    frames: Frame[] = [];
    /** When this page last sent `show`. */
    showAsked = -Infinity;
    /** Which pane the settings are for; `null` for all. */
    target: number | null = null;
    readonly connection: Connection;

    private readonly handlers: { [T in keyof Topics]?: Handler<Topics[T]>[] } = {};
    private readonly pending = new Map<string, Change>();
    private pendingTimer = 0;
    private flushed = 0;
    /** Changes from one press of the pointer or of a key to the next belong to one drag, which one undo takes back. */
    private drag = 0;
    private before: PaneInfo[] = [];

    constructor() {
        const press = (event: Event) => {
            if (!(event instanceof KeyboardEvent && event.repeat)) this.drag++;
        };
        for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, press, true);
        this.connection = new Connection({
            event: (event) => this.event(event),
            binary: (message) => this.binary(message),
            link: (state, attempt) => this.tell("link", { state, attempt }),
        });
    }

    on<T extends keyof Topics>(topic: T, handler: Handler<Topics[T]>): void {
        ((this.handlers[topic] ??= []) as Handler<Topics[T]>[]).push(handler);
    }

    tell<T extends keyof Topics>(topic: T, value: Topics[T]): void {
        for (const handler of (this.handlers[topic] ?? []) as Handler<Topics[T]>[]) handler(value);
    }

    send(request: Request): boolean {
        if (request.do !== "set") this.flush();
        const sent = this.connection.send(request);
        if (!sent) this.tell("error", { text: "There is no connection to the lab; nothing was changed.", request: request.do });
        return sent;
    }

    /** The pane whose settings are shown. */
    get shown(): PaneInfo | null {
        return this.panes[this.target ?? 0] ?? null;
    }

    setTarget(target: number | null): void {
        this.flush();
        this.target = target;
        this.tell("target", target);
    }

    set(path: string, value: Json): void {
        this.setAll([{ path, value }]);
    }

    setAll(changes: Change[]): void {
        this.flush();
        this.send({ do: "set", pane: this.target, changes });
    }

    /** For sliders that move: sends the newest value of each path at most thirty times per second, the first one at once. */
    setSoon(path: string, value: Json): void {
        this.pending.set(path, { path, value });
        const wait = this.flushed + 33 - performance.now();
        if (this.pendingTimer === 0) this.pendingTimer = window.setTimeout(() => this.flush(), Math.max(wait, 0));
    }

    flush(): void {
        clearTimeout(this.pendingTimer);
        this.pendingTimer = 0;
        if (this.pending.size === 0) return;
        this.flushed = performance.now();
        const changes = [...this.pending.values()];
        this.pending.clear();
        this.send({ do: "set", pane: this.target, changes, drag: this.drag });
    }

    show(change: Partial<Show>): void {
        this.status.show = { ...this.status.show, ...change };
        this.showAsked = performance.now();
        this.send({ do: "show", ...this.status.show });
    }

    /** The pane whose vertex is watched. */
    watchedPane = 0;

    /** Frames contain the numbers of this vertex from now on. */
    watch(pane: number, vertex: number | null): void {
        if (pane !== this.watchedPane && this.frames[this.watchedPane]?.watched) this.send({ do: "watch", pane: this.watchedPane, vertex: null });
        this.watchedPane = pane;
        this.send({ do: "watch", pane, vertex });
    }

    private event(event: ServerEvent): void {
        switch (event.event) {
            case "hello": {
                const again = this.before.length > 0 && event.session !== this.session;
                this.session = event.session;
                this.catalogue = event.catalogue;
                this.limits = event.limits ?? this.limits;
                this.tell("hello", event);
                if (again) this.tell("forgotten", this.before);
                break;
            }
            case "status":
                this.status = event;
                this.tell("status", event);
                break;
            case "panes":
                this.panes = this.before = event.panes;
                if (this.target !== null && this.target >= this.panes.length) this.setTarget(null);
                this.tell("panes", this.panes);
                break;
            case "error":
                this.tell("error", { text: event.text, request: event.request ?? null });
                break;
            case "notice":
                this.tell("notice", event.text);
                break;
            case "failure":
                this.tell("failure", event);
                break;
            case "job":
                this.tell("job", event);
                break;
            case "file":
                this.tell("file", event);
                break;
        }
    }

    private session: string | null = null;
    /** Versions of the geometry, and of the geometry that the frames belong to. */
    version = -1;
    frameVersion = -1;
    private early: Binary | null = null;

    private binary(message: Binary): void {
        if (message.kind === "geometry") {
            this.version = message.version;
            this.geometry = message.panes;
            this.tell("geometry", this.geometry);
            if (this.early) this.binary(this.early);
        } else if (message.version === this.version) {
            this.early = null;
            this.frames = message.panes;
            this.frameVersion = message.version;
            this.tell("frame", this.frames);
        } else {
            // Frames are not queued, so a frame can arrive before its geometry.
            this.early = message;
        }
    }
}
