import { CliError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { type Loopback, openLoopback, stateIn } from '../loopback.ts'
import { openBrowser } from '../open-browser.ts'
import { readSecretLines } from '../read-secret.ts'
import { reviewText } from '../upstream-text.ts'

/** The first line of the input that is an answer to this login; never, where there is none. */
async function pasted({ stdin }: Io, state: string, signal: AbortSignal): Promise<string> {
  let text = ''
  for await (const chunk of stdin.chunks(signal)) {
    text += chunk.toString('utf8')
    const lines = text.split(/\r?\n/)
    text = (lines.pop() ?? '').slice(-65_536)
    const found = lines.map((line) => line.trim()).find((line) => stateIn(line) === state)
    if (found !== undefined) return found
  }
  if (stateIn(text.trim()) === state) return text.trim()
  return await new Promise(() => {})
}

const ended = (signal: AbortSignal, text: string): Promise<never> =>
  new Promise((_resolve, reject) => {
    const end = () => reject(new CliError('Cancelled', exitCodes.failed, text))
    if (signal.aborted) return end()
    signal.addEventListener('abort', end, { once: true })
  })

type Wait = { readonly state: string; readonly expires_at: string; readonly readsInput: boolean }

/** The address that the browser was sent to: it comes by itself, or a person pastes it. */
async function answered(io: Io, loopback: Loopback, wait: Wait): Promise<string> {
  const { state, expires_at, readsInput } = wait
  const done = new AbortController()
  const leftMs = Math.max(0, Math.min(Date.parse(expires_at) - Date.now(), 600_000))
  try {
    return await Promise.race([
      loopback.redirected(state),
      ...(readsInput ? [pasted(io, state, done.signal)] : []),
      ended(io.signal, 'The login was ended before its answer came.'),
      ended(AbortSignal.timeout(leftMs), 'Nobody logged in in time.'),
    ])
  } finally {
    done.abort()
  }
}

export const upstreamLogin = defineCommand({
  name: 'upstream login',
  summary: 'Log in to a server over HTTP with a browser (OAuth), and show its tools',
  args: { name: 'the server' },
  options: {
    as: {
      value: 'AGENT',
      about: 'for this agent only; without it for all agents that have no own login',
    },
    'client-id': { value: 'ID', about: 'the id of a client that is already registered there' },
    'client-secret': { about: 'read the secret of that client from the input' },
    port: {
      value: 'PORT',
      integer: true,
      about: "the local port for the login's redirect (any free one)",
    },
    'no-browser': { about: 'print the address instead of opening a browser' },
  },
  examples: [
    'gatehouse upstream login tickets',
    'gatehouse upstream login tickets --as coder',
    'gatehouse upstream login tickets --client-id gatehouse --client-secret --port 4180 < secret.txt',
  ],
  async run({ api, io, note }, given) {
    const { name, as: agent, 'client-id': id, 'client-secret': hasSecret } = given
    const [secret] = hasSecret ? await readSecretLines(io, ['Secret of the client']) : []
    await using loopback = await openLoopback(given.port ?? 0)
    const started = await api.loginUpstream({
      name,
      redirect_url: loopback.url,
      ...(agent === undefined ? {} : { agent }),
      ...(id === undefined ? {} : { client_id: id }),
      ...(secret === undefined ? {} : { client_secret: secret }),
    })
    const opened = !given['no-browser'] && openBrowser(io, started.address)
    // Of an input that held a secret nothing is left.
    const readsInput = !hasSecret || io.stdin.isTTY
    await note(
      [
        `${opened ? 'A browser opens' : 'Open'} this address, and log in at ${escapeText(started.issuer)}:`,
        '',
        escapeText(started.address),
        '',
        ...(readsInput
          ? [
              `If the browser is on another machine, it ends at an address that begins with ${loopback.url} and shows nothing: paste that address here.`,
            ]
          : []),
      ].join('\n'),
    )
    const { state, expires_at } = started
    const redirected = await answered(io, loopback, { state, expires_at, readsInput })
    return await api.finishUpstreamLogin({ name, redirected })
  },
  text: (review, view) => `You are logged in.\n\n${reviewText(review, view)}`,
})
