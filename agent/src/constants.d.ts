// SPDX-License-Identifier: Apache-2.0
/** True in the builds that describe events in words; the others have no room for messages. */
declare const DEBUG: boolean;
/** True in the builds with web vitals. */
declare const VITALS: boolean;
/** True in the build for workers. */
declare const WORKER: boolean;
