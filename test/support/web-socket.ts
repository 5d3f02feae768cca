import { WebSocket } from 'ws'

// Node 20 has no WebSocket of its own; the client expects the one that browsers have.
Object.assign(globalThis, { WebSocket: globalThis.WebSocket ?? WebSocket })
