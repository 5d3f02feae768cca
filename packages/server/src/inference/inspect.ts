import { GatehouseError, type ModelHeader } from '@gatehouse/contract'
import { readGgufHeader } from '../domain/models/gguf-header.ts'
import type { ModelFile } from '../ports/models.ts'
import { ask, type DownloadDeps } from './download.ts'
import { judgeAnswer } from './judge-answer.ts'
import { StallGuard } from './stall-guard.ts'

const steps = [1, 4, 8].map((mebibytes) => mebibytes * 1024 * 1024)

/** The first bytes, also of a source that ignores the range and would send all. */
async function firstBytes(
  deps: DownloadDeps,
  file: ModelFile,
  count: number,
  signal: AbortSignal,
): Promise<Buffer> {
  using stall = new StallGuard(deps.stallMs, signal)
  await using answer = await ask(deps, file, `bytes=0-${count - 1}`, stall.signal)
  judgeAnswer(answer, file, 0)
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body) {
    stall.alive()
    parts.push(chunk)
    bytes += chunk.length
    if (bytes >= count) break
  }
  return Buffer.concat(parts).subarray(0, count)
}

/** As `ModelFiles.inspect` has it: what a file is, for a few megabytes of it. */
export async function inspect(
  deps: DownloadDeps,
  file: ModelFile,
  signal: AbortSignal,
): Promise<ModelHeader> {
  const { id, size_bytes } = file
  for (const step of steps) {
    const bytes = await firstBytes(deps, file, Math.min(step, size_bytes), signal)
    const reading = readGgufHeader(bytes, size_bytes)
    if (reading.kind === 'accepted') return reading.header
    if (reading.kind === 'refused')
      throw new GatehouseError('ModelHeaderRefused', { id, detail: reading.reason })
  }
  const detail = 'its header is too long to be read ahead; it is judged when the file is here'
  throw new GatehouseError('ModelSourceFailed', { id, detail })
}
