import type { Process, ProcessId, ProcessLog } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredProcess } from '../../ports/process-store.ts'
import type { HostedProcess, LogRequest, StreamPiece } from '../../ports/processes.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

/** A process as people and agents see it; `live` has what is not stored while it runs. */
export const processRecord = (
  stored: StoredProcess,
  background: boolean,
  live?: HostedProcess,
): Process => ({
  process_id: stored.id as ProcessId,
  agent: stored.agent as Process['agent'],
  command: stored.command,
  args: parseStored(stored.args_json, 'processes.args_json'),
  working_directory: stored.working_directory,
  background,
  state: stored.state,
  exit_code: stored.exit_code,
  signal: stored.signal,
  sandbox: stored.sandbox,
  network: parseStored(stored.network_json, 'processes.network_json'),
  started_at: iso(stored.started_ms),
  ended_at: stored.ended_ms === null ? null : iso(stored.ended_ms),
  stdout_bytes: live?.written('stdout') ?? stored.stdout_bytes,
  stderr_bytes: live?.written('stderr') ?? stored.stderr_bytes,
  cpu_ms: stored.cpu_ms,
  memory_bytes_max: stored.memory_bytes_max,
  detail: stored.detail,
})

/** Names the program that an act or an event is about, so that nobody need look up its id. */
export const commandFacts = ({ command, args_json }: StoredProcess) => ({
  command,
  args: parseStored<string[]>(args_json, 'processes.args_json'),
})

/** How many bytes at the end begin a character that is not there whole. */
const cutOff = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? back : 0
  }
  return 0
}

/** Bytes as text, without the half of a character at their end. */
export const textOf = (bytes: Uint8Array): { readonly text: string; readonly length: number } => {
  const length = bytes.length - cutOff(bytes)
  return { text: new TextDecoder().decode(bytes.subarray(0, length)), length }
}

/** A piece of a stream, so that the next request goes on where this one ends. */
export const logRecord = (
  { process_id, stream, offset = 0 }: LogRequest,
  state: Process['state'],
  piece: StreamPiece,
): ProcessLog => {
  const { text, length } = textOf(piece.bytes)
  const isEnd = piece.offset + piece.bytes.length >= piece.total_bytes
  // Half a character that nothing follows any more is told as what it is.
  const whole = isEnd && state !== 'running'
  const next_offset = piece.offset + (whole ? piece.bytes.length : length)
  return {
    process_id: process_id as ProcessId,
    stream,
    state,
    content: whole ? new TextDecoder().decode(piece.bytes) : text,
    offset: piece.offset,
    next_offset,
    total_bytes: piece.total_bytes,
    lost_bytes: Math.max(0, piece.offset - offset),
    truncated: next_offset < piece.total_bytes,
  }
}
