/** What the agent is called in its uploads, and to the page. */
export const version = '0.1.0';
