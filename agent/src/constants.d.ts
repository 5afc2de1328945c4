/** True in the builds that say in words what happens; the others have no room for them. */
declare const DEBUG: boolean;
/** True in the builds with web vitals. */
declare const VITALS: boolean;
/** True in the build for workers. */
declare const WORKER: boolean;
