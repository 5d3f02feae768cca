import { CliError, usageError } from '../cli-error.ts'
import type { DataPlaces } from '../data-places.ts'
import { exitCodes } from '../exit-codes.ts'
import { httpFetch } from '../http-fetch.ts'
import { isAlive, isLoopback, isUserToken, readHookToken, readRunFile } from '../run-file.ts'
import type { HookClient } from './hook-clients.ts'

export const tokenVariable = 'GATEHOUSE_HOOK_TOKEN'

/** Above what a tool of a client is given with any sense. */
const inputBytesMax = 32 * 1024 * 1024
/** The service answers within 590 s. A client that ends its hook, after the 600 s that connect writes, lets the call go on. */
const waitMsMax = 595_000

const failed = (message: string, fix?: { readonly action: string }): CliError =>
  new CliError('NotDecided', exitCodes.wrongUsage, message, {
    recovery: fix === undefined ? [] : [{ ...fix, description: '' }],
  })

export function findHookToken(
  file: string | undefined,
  given: string | undefined,
): Promise<string> | string {
  if (file !== undefined) return readHookToken(file)
  const token = given?.trim()
  if (!token)
    throw usageError(`There is no token: give --token-file FILE, or the variable ${tokenVariable}.`)
  if (!isUserToken(token)) throw usageError(`${tokenVariable} holds no user token.`)
  return token
}

/** The address that was named, or that of the first service that runs on one of the places. */
export async function findUserApi(named: string | undefined, places: DataPlaces): Promise<string> {
  if (named !== undefined) {
    // @SECURITY The token goes to this address: never off this machine; hook-failures.test.ts fails without it.
    if (isLoopback(named)) return named
    throw usageError('--url is the User API on this machine: --url http://127.0.0.1:7703.')
  }
  for (const dir of places.dirs) {
    const run = await readRunFile(dir)
    if (run && isAlive(run.pid)) return run.user_api_url
  }
  throw failed(`No service runs on ${places.dirs[0]}.`, { action: 'gatehouse serve' })
}

/** A call as the client describes it: its text as it came, and the fields in it. */
export type Call = { readonly text: string; readonly given: Readonly<Record<string, unknown>> }

export async function readCall(chunks: AsyncIterable<Buffer>): Promise<Call> {
  const all: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > inputBytesMax)
      throw failed(`The client describes the call in more than ${inputBytesMax} bytes.`)
    all.push(chunk)
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(all))
    const given: unknown = JSON.parse(text)
    if (isObject(given)) return { text, given }
  } catch {
    // Said below, as for JSON that is no object.
  }
  throw failed('What the client wrote about the call is no JSON object.', {
    action: 'update the client',
  })
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Why the service did not decide, in its own words where it has some. */
function refusal(client: HookClient, status: number, text: string): CliError {
  const problem = parsed(text)
  if (status === 401)
    return failed('The token of this hook is unknown or revoked.', {
      action: `gatehouse connect ${client}`,
    })
  if (!isObject(problem) || typeof problem['detail'] !== 'string')
    return failed(`The service answered with the status ${status}.`, { action: 'gatehouse doctor' })
  const [recovery] = Array.isArray(problem['recovery']) ? (problem['recovery'] as unknown[]) : []
  const action = isObject(recovery) ? recovery['action'] : undefined
  const [wrong] = Array.isArray(problem['errors']) ? (problem['errors'] as unknown[]) : []
  const which = isObject(wrong) ? ` ${String(wrong['pointer'])}: ${String(wrong['detail'])}.` : ''
  return failed(`${problem['detail']}${which}`, typeof action === 'string' ? { action } : undefined)
}

export type Question = {
  readonly client: HookClient
  readonly url: string
  readonly token: string
  readonly call: string
  /** Aborts when the client ends the hook. */
  readonly signal: AbortSignal
  readonly waitMs?: number
}

/** Asks the gate about one call. Resolves with what the client reads; raises whatever else happens. */
export async function askGate({
  client,
  url,
  token,
  call,
  signal,
  waitMs = waitMsMax,
}: Question): Promise<string> {
  const waited = new AbortController()
  const timer = setTimeout(() => waited.abort(), waitMs)
  const late = AbortSignal.any([signal, waited.signal])
  try {
    const answer = await httpFetch(new URL(`/api/hooks/${client}`, url).href, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json',
        // The process ends with its one answer.
        connection: 'close',
      },
      body: call,
      signal: late,
    })
    const text = (await answer.text()).trim()
    if (answer.status !== 200) throw refusal(client, answer.status, text)
    if (isObject(parsed(text))) return text
    throw failed('The service answered with no JSON object.', { action: 'gatehouse doctor' })
  } catch (error) {
    if (waited.signal.aborted)
      throw failed(`Nobody decided within ${Math.round(waitMs / 1000)} s.`, {
        action: 'gatehouse approvals list',
      })
    if (signal.aborted) throw failed('The client ended the hook before there was a decision.')
    if (error instanceof CliError) throw error
    throw failed(`The service at ${url} did not answer.`, { action: 'gatehouse doctor' })
  } finally {
    clearTimeout(timer)
  }
}
