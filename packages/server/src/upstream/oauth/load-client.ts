/** Loaded for the first server that needs it: most installations have none. */
export const loadClient = () => import('@modelcontextprotocol/client')
