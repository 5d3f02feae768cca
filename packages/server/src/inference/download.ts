import { GatehouseError, type ModelHeader } from '@gatehouse/contract'
import { type Mirrors, mirrored } from '../domain/models/mirror.ts'
import type { FileProgress, ModelFile } from '../ports/models.ts'
import type { Outbound, OutboundResponse } from '../ports/outbound.ts'
import { HeaderNotAccepted } from './header-watch.ts'
import { Intake } from './intake.ts'
import { judgeAnswer, passing } from './judge-answer.ts'
import type { ModelFolder } from './model-folder.ts'
import { readFileHeader } from './read-file-header.ts'
import { StallGuard } from './stall-guard.ts'

export type DownloadDeps = {
  readonly folder: ModelFolder
  readonly outbound: Outbound
  readonly mirrors: Mirrors
  /** A transfer from which nothing comes for this long has ended. */
  readonly stallMs: number
}

/** A large file on a slow line takes days; nothing for `stallMs` ends it sooner. */
const wholeMs = 14 * 86_400_000
export const redirectsMax = 5

export const ask = (
  { outbound, mirrors }: DownloadDeps,
  { url }: ModelFile,
  range: string | null,
  signal: AbortSignal,
): Promise<OutboundResponse> =>
  outbound.request(
    {
      url: mirrored(url, mirrors),
      method: 'GET',
      headers: { 'accept-encoding': 'identity', ...(range === null ? {} : { range }) },
      body: null,
      timeout_ms: wholeMs,
      redirects_max: redirectsMax,
      https_only: true,
    },
    signal,
  )

/** Asks for what is missing. Whoever mishandles ranges is asked for all of it, once. */
async function answerFor(
  deps: DownloadDeps,
  file: ModelFile,
  intake: Intake,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const from = intake.bytes
  const range = from > 0 ? `bytes=${from}-` : null
  for (const asked of range === null ? [null] : [range, null]) {
    const answer = await ask(deps, file, asked, signal)
    try {
      const verdict = judgeAnswer(answer, file, asked === null ? 0 : from)
      if (verdict !== 'ask_without_range') {
        if (verdict === 'restart' || (asked === null && from > 0)) await intake.restart()
        return answer
      }
    } catch (cause) {
      await answer[Symbol.asyncDispose]()
      throw cause
    }
    await answer[Symbol.asyncDispose]()
  }
  throw passing(file.url, 'it does not send the part that it was asked for')
}

/** Writes no byte beyond the size that the entry promises. */
async function receive(
  deps: DownloadDeps,
  file: ModelFile,
  intake: Intake,
  report: () => void,
  signal: AbortSignal,
): Promise<void> {
  using stall = new StallGuard(deps.stallMs, signal)
  await using answer = await answerFor(deps, file, intake, stall.signal)
  try {
    for await (const chunk of answer.body) {
      stall.alive()
      if (intake.bytes + chunk.length > file.size_bytes) {
        const { id, size_bytes } = file
        const detail = 'the source sends more'
        throw new GatehouseError('ModelSizeMismatch', { id, size_bytes, detail })
      }
      await intake.take(chunk)
      report()
    }
  } finally {
    // The next attempt goes on from the bytes that came before a failure.
    await intake.flush()
  }
  if (intake.bytes < file.size_bytes)
    throw passing(answer.url, `it ended after ${intake.bytes} of ${file.size_bytes} bytes`)
}

const refusals: readonly string[] = ['ModelSizeMismatch', 'ModelHeaderRefused']

/** As `ModelFiles.fetch` has it. */
export async function download(
  deps: DownloadDeps,
  file: ModelFile,
  report: (progress: FileProgress) => void,
  signal: AbortSignal,
): Promise<ModelHeader> {
  const { folder } = deps
  const { id, sha256, size_bytes } = file
  const handle = await folder.openPartial(sha256)
  try {
    const intake = new Intake(handle, size_bytes)
    const tell = (phase: FileProgress['phase']) =>
      report({ phase, bytes: intake.bytes, header: intake.header })
    await intake.replay(() => tell('resuming'), signal)
    if (intake.bytes < size_bytes) {
      tell('downloading')
      await receive(deps, file, intake, () => tell('downloading'), signal)
    }
    tell('verifying')
    const found = intake.digest()
    if (found !== sha256) {
      await folder.rejectPartial(sha256)
      throw new GatehouseError('ModelHashMismatch', { id, found, expected: sha256 })
    }
    const header = intake.header ?? (await readFileHeader(handle, size_bytes))
    tell('finishing')
    await folder.publish(sha256, handle)
    return header
  } catch (cause) {
    const failure = asFailure(cause, id, await missingRoom(cause, folder, file))
    // Bytes that were refused are no beginning to go on from.
    if (failure instanceof GatehouseError && refusals.includes(failure.type))
      await folder.dropPartial(sha256)
    throw failure
  } finally {
    await handle.close()
  }
}

async function missingRoom(
  cause: unknown,
  folder: ModelFolder,
  { id, sha256, size_bytes }: ModelFile,
): Promise<GatehouseError | null> {
  const { code } = cause as NodeJS.ErrnoException
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return null
  const needed_bytes = size_bytes - (await folder.partialBytes(sha256))
  const free_bytes = await folder.freeBytes()
  return new GatehouseError('NotEnoughDisk', { id, needed_bytes, free_bytes }, { cause })
}

const asFailure = (cause: unknown, id: string, noRoom: GatehouseError | null): unknown =>
  cause instanceof HeaderNotAccepted
    ? new GatehouseError('ModelHeaderRefused', { id, detail: cause.message })
    : (noRoom ?? cause)
