// The WebSocket to the server. It is opened again when the connection is lost. The name of the session is kept.

import type { Request, ServerEvent } from "./protocol.ts";
import { type Binary, decode } from "./wire.ts";

export type Link = "connecting" | "open" | "lost" | "no token";

export interface Listener {
    event(event: ServerEvent): void;
    binary(message: Binary): void;
    link(state: Link, attempt: number): void;
}

const TOKEN = "lilyan.token";
const SESSION = "lilyan.session";

/** Reads the fragment of the address. The token is removed from the address bar. */
export function takeFragment(): { gallery: string | null } {
    const fragment = new URLSearchParams(location.hash.slice(1));
    const token = fragment.get("token");
    if (token !== null) {
        if (token !== sessionStorage.getItem(TOKEN)) sessionStorage.removeItem(SESSION);
        sessionStorage.setItem(TOKEN, token);
        fragment.delete("token");
        const rest = fragment.toString();
        history.replaceState(null, "", location.pathname + (rest ? `#${rest}` : ""));
    }
    return { gallery: fragment.get("gallery") };
}

export class Connection {
    private socket: WebSocket | null = null;
    private attempt = 0;
    private timer = 0;

    constructor(private readonly listener: Listener) {}

    get session(): string | null {
        return sessionStorage.getItem(SESSION);
    }

    setToken(token: string): void {
        sessionStorage.setItem(TOKEN, token);
        this.connect();
    }

    connect(): void {
        clearTimeout(this.timer);
        const token = sessionStorage.getItem(TOKEN);
        if (!token) return this.listener.link("no token", 0);
        const query = new URLSearchParams({ token });
        if (this.session) query.set("session", this.session);
        this.listener.link("connecting", this.attempt);
        const scheme = location.protocol === "https:" ? "wss" : "ws";
        const socket = new WebSocket(`${scheme}://${location.host}/socket?${query}`);
        socket.binaryType = "arraybuffer";
        socket.onopen = () => {
            this.attempt = 0;
            this.listener.link("open", 0);
        };
        socket.onmessage = (message) => this.receive(message.data as string | ArrayBuffer);
        socket.onclose = () => {
            if (this.socket !== socket) return;
            this.socket = null;
            this.attempt += 1;
            this.listener.link("lost", this.attempt);
            this.timer = window.setTimeout(() => this.connect(), Math.min(250 * 2 ** this.attempt, 4000));
        };
        this.socket?.close();
        this.socket = socket;
    }

    private receive(data: string | ArrayBuffer): void {
        if (typeof data !== "string") return this.listener.binary(decode(data));
        const event = JSON.parse(data) as ServerEvent;
        if (event.event === "hello") sessionStorage.setItem(SESSION, event.session);
        this.listener.event(event);
    }

    /** Sends a request; returns whether it could be sent. */
    send(request: Request): boolean {
        if (this.socket?.readyState !== WebSocket.OPEN) return false;
        this.socket.send(JSON.stringify(request));
        return true;
    }

    /** The address of a file that a job wrote. */
    result(job: number, file: string): string {
        const token = sessionStorage.getItem(TOKEN) ?? "";
        return `/result?${new URLSearchParams({ token, session: this.session ?? "", job: String(job), file })}`;
    }

    /** Sends a mesh file. Throws an error with the reason if it is refused. */
    async upload(file: File): Promise<void> {
        const token = sessionStorage.getItem(TOKEN) ?? "";
        const query = new URLSearchParams({ token, session: this.session ?? "", name: file.name });
        const answer = await fetch(`/upload?${query}`, { method: "POST", body: file });
        if (!answer.ok) throw new Error((await answer.text()) || `the lab answered ${answer.status}`);
    }
}
