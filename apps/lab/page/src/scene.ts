// Reads and writes values in a scene by their paths (`body.0.material.E`), as `lilyan run --set` does.

import type { Json, JsonObject } from "./protocol.ts";

export function at(scene: Json, path: string): Json | undefined {
    let value: Json | undefined = scene;
    for (const key of path.split(".")) {
        if (value === null || typeof value !== "object") return undefined;
        value = Array.isArray(value) ? value[Number(key)] : value[key];
    }
    return value;
}

export function numberAt(scene: Json, path: string): number | null {
    const value = at(scene, path);
    return typeof value === "number" ? value : null;
}

export function isObject(value: Json | undefined): value is JsonObject {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `1e5` and `true` and `[1, 2]` are JSON; anything else is text. */
export function parseValue(text: string): Json {
    try {
        return JSON.parse(text) as Json;
    } catch {
        return text;
    }
}

/** The text that `parseValue` reads back. */
export function formatValue(value: Json): string {
    if (typeof value !== "string") return JSON.stringify(value);
    return parseValue(value) === value ? value : JSON.stringify(value);
}

/** Gravity as strength and direction; `null` if there is none or if it is a formula. */
export function gravityOf(scene: Json): { strength: number; direction: [number, number, number] } | null {
    const value = at(scene, "environment.gravity");
    if (!Array.isArray(value) || value.length !== 3 || !value.every((x) => typeof x === "number")) return null;
    const [x, y, z] = value as [number, number, number];
    const strength = Math.hypot(x, y, z);
    if (strength === 0) return null;
    return { strength, direction: [x / strength, y / strength, z / strength] };
}

/** Index of the first plane among the contacts, or −1. */
export function floorOf(scene: Json): number {
    const contacts = at(scene, "contact");
    return Array.isArray(contacts) ? contacts.findIndex((contact) => isObject(contact) && contact.kind === "plane") : -1;
}

/** The next integrator, with those options of the current one that it has as well. */
export function nextIntegrator(now: Json | undefined, name: string, known: string[]): JsonObject {
    const next: JsonObject = { name };
    if (isObject(now)) for (const key of known) if (key in now && key !== "name") next[key] = now[key]!;
    return next;
}
