import type {
  HostedProcess,
  ProcessEnd,
  ProcessHost,
  StreamPiece,
} from '@gatehouse/server/ports/processes'

const output = Buffer.from('listening\n')

const pieceOf = (bytes: Uint8Array, offset: number, limit: number): StreamPiece => ({
  bytes: bytes.subarray(offset, offset + limit),
  offset: Math.min(offset, bytes.length),
  total_bytes: bytes.length,
})

const startProcess = (working_directory: string): HostedProcess => {
  let ended: (end: ProcessEnd) => void = () => undefined
  const exited = new Promise<ProcessEnd>((resolve) => (ended = resolve))
  const signal = (name: string, detail: string | null) =>
    ended({
      state: 'killed',
      exit_code: null,
      signal: name,
      usage: { duration_ms: 0, cpu_ms: null, memory_bytes_max: null },
      detail,
      refused_hosts: [],
    })
  return {
    sandbox: 'bubblewrap',
    working_directory,
    exited,
    written: (stream) => (stream === 'stdout' ? output.length : 0),
    read: async (stream, offset, limit) =>
      pieceOf(stream === 'stdout' ? output : Buffer.alloc(0), offset, limit),
    sample: () => null,
    signal,
    end: async (_graceMs, detail) => {
      signal('SIGTERM', detail)
      return exited
    },
  }
}

/** Programs that say that they listen, and run until they are ended. */
export const createTestProcessHost = (): ProcessHost => ({
  resolve: async ({ workspace }, { command, network }) => ({
    program: { path: `/usr/bin/${command}`, identity: 'a' },
    working_directory: { path: workspace, dev: '1', ino: '1' },
    files: [],
    network,
    sandbox: 'bubblewrap',
  }),
  start: async ({ workspace }) => startProcess(workspace),
  readKept: async (_id, _stream, offset, limit) => pieceOf(output, offset, limit),
  forget: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
})
