import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { openLoopback } from '../src/loopback.ts'
import { createCliKit } from './kit.ts'

const line = ['upstream', 'login', seeded.waitingUpstream, '--no-browser']

/** The address that the browser is to come back to, from what the command prints. */
const redirectIn = (text: string): string | undefined =>
  /redirect_uri=(\S+)/.exec(text)?.slice(1).map(decodeURIComponent)[0]

/** Does something once the command has printed its address. */
const onceShown = (act: (redirect: string) => void) => {
  let all = ''
  let done = false
  return (text: string) => {
    all += text
    const redirect = redirectIn(all)
    if (done || redirect === undefined) return
    done = true
    act(redirect)
  }
}

test('a login is finished by the browser that comes back, and shows the tools', async () => {
  const kit = createCliKit()
  const pages: number[] = []
  const browse = async (redirect: string) => {
    // A page that only guesses is sent away, and ends nothing.
    for (const state of ['guessed', 'a-state'])
      pages.push((await fetch(`${redirect}?code=a-code&state=${state}`)).status)
  }
  const onWrite = onceShown((redirect) => void browse(redirect))
  const { code, out, err } = await kit.gatehouse(line, { onWrite })
  expect([code, pages[0]]).toEqual([0, 404])
  expect(out).toContain('add_note')
  expect(out).toContain('gatehouse upstream accept tickets')
  expect(err).toContain('https://login.example/authorize')
  expect(out + err).not.toContain('a-code')
  expect(kit.operations).toEqual(['loginUpstream', 'finishUpstreamLogin'])
})

test('a person on another machine pastes the address that the browser ended at', async () => {
  const kit = createCliKit()
  const input = 'what?\nhttp://127.0.0.1:4180/callback?code=a-code&state=a-state\n'
  const { code } = await kit.gatehouse([...line, '--json'], { input })
  expect(code).toBe(0)
  expect(kit.operations).toEqual(['loginUpstream', 'finishUpstreamLogin'])
})

test('a login that is refused, or that nobody finishes, fails and says so', async () => {
  const kit = createCliKit()
  const input = 'http://127.0.0.1:4180/callback?error=access_denied&state=a-state\n'
  const refused = await kit.gatehouse(line, { input })
  expect(refused.code).not.toBe(0)
  expect(refused.err).toContain('access_denied')
  const ended = await kit.gatehouse(line, { signal: AbortSignal.abort() })
  expect(ended.code).not.toBe(0)
  expect(ended.err).toContain('ended before its answer')
})

test('a secret of a client is read from the input, and a taken port is named', async () => {
  const kit = createCliKit()
  await using taken = await openLoopback(0)
  const { port } = new URL(taken.url)
  const options = ['--client-id', 'given', '--client-secret', '--port', port]
  const { code, err } = await kit.gatehouse([...line, ...options], { input: 'a-client-secret\n' })
  expect(code).not.toBe(0)
  expect(err).toContain(`Port ${port}`)
  expect(err).not.toContain('a-client-secret')
  expect(kit.operations).toEqual([])
})
