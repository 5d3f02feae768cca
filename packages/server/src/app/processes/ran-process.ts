import type { ProcessEnd, RanProcess } from '../../ports/processes.ts'
import { textOf } from './process-record.ts'

/** Both streams of an answer together, as JSON: more is cut to this much of each. */
const answerBytesMax = 8 * 1024 * 1024
const cutBytes = 65_536

type Piece = { readonly bytes: Uint8Array; readonly total_bytes: number }

/** Answer of a call that ran a program; `end` is null while it goes on in the background. */
export const toRunAnswer = (
  process_id: string,
  end: ProcessEnd | null,
  pieces: readonly Piece[],
): RanProcess => {
  let texts = pieces.map(({ bytes }) => textOf(bytes).text)
  let truncated = pieces.some(({ bytes, total_bytes }) => bytes.length < total_bytes)
  if (Buffer.byteLength(JSON.stringify(texts)) > answerBytesMax) {
    texts = pieces.map(({ bytes }) => textOf(bytes.subarray(0, cutBytes)).text)
    truncated = true
  }
  const [stdout = '', stderr = ''] = texts
  return {
    process_id,
    state: end?.state ?? 'running',
    exit_code: end?.exit_code ?? null,
    signal: end?.signal ?? null,
    stdout,
    stderr,
    truncated,
    duration_ms: end?.usage.duration_ms ?? 0,
    resource_usage: {
      cpu_ms: end?.usage.cpu_ms ?? null,
      memory_bytes_max: end?.usage.memory_bytes_max ?? null,
    },
  }
}
