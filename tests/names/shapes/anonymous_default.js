const { probe } = globalThis;

export default function () { probe.anonymousDefault(); }
