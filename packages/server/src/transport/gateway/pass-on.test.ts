import { once } from 'node:events'
import net from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { passOn, tokenIn } from './pass-on.ts'

const token = 'ab'.repeat(32)
const post = (value: string): string =>
  `POST /rpc HTTP/1.1\r\nHost: localhost\r\n${value}\r\nContent-Length: 0\r\n\r\n`

test.each([
  ['a header', post(`Authorization: Bearer ${token}`), token],
  ['a header in other letters', post(`authorization:bearer  ${token}`), token],
  ['an address', `GET /mcp?token=${token} HTTP/1.1\r\nHost: localhost\r\n\r\n`, token],
  ['an address with more', `GET /mcp?a=1&token=${token}&b=2 HTTP/1.1\r\n\r\n`, token],
  ['nothing', post('X: y'), null],
  ['another scheme', post(`Authorization: Basic ${token}`), null],
  ['a token that is too long', post(`Authorization: Bearer ${token}0`), null],
  ['half a header', `POST /rpc HTTP/1.1\r\nAuthorization: Bearer ${token}`, null],
  ['noise', '\u0016\u0003\u0001', null],
])('the token of %s', (_, head, found) => {
  expect(tokenIn(Buffer.from(head, 'latin1'))).toBe(found)
})

type Taking = (head: Buffer) => boolean

/** A server that gives connections away as `wayTo` says, and hears what is left of them. */
const open = async (wayTo: (token: string) => Promise<Taking | null>, silentMs = 60_000) => {
  const served: string[] = []
  const left: string[] = []
  let bytesRead = () => 0
  let isServed = false
  const server = net.createServer((socket) => {
    bytesRead = () => socket.bytesRead
    passOn(socket, {
      wayTo: async (shown) => {
        const taking = await wayTo(shown)
        return taking && ((_socket, head) => taking(head))
      },
      gone: () => left.push('gone'),
      serve: () => {
        isServed = true
        socket.on('data', (chunk) => served.push(chunk.toString()))
      },
      silentMs,
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  return { client, served, left, bytesRead: () => bytesRead(), isServed: () => isServed }
}

const request = post(`Authorization: Bearer ${token}`)
const more = 'more'.repeat(50_000)

test.each([
  ['its own', null],
  ['nobody', () => false],
])('every byte is there for who serves it, where the way leads to %s', async (_, taking) => {
  let choose: (taking: Taking | null) => void = () => {}
  const chosen = new Promise<Taking | null>((resolve) => (choose = resolve))
  let asked = 0
  const { client, served, left } = await open(() => {
    asked += 1
    return chosen
  })
  client.write(request)
  await expect.poll(() => asked).toBe(1)
  client.write(more)
  await new Promise((resolve) => setTimeout(resolve, 50))
  choose(taking)
  client.write('the end')
  await expect.poll(() => served.join('').length).toBe((request + more).length + 7)
  expect(served.join('')).toBe(`${request}${more}the end`)
  expect(left).toEqual([])
})

test('one that is given away is read no further, and all that was read goes with it', async () => {
  const heads: string[] = []
  let choose: (taking: Taking) => void = () => {}
  const chosen = new Promise<Taking>((resolve) => (choose = resolve))
  const { client, served, left, bytesRead } = await open(() => chosen)
  client.write(request)
  await expect.poll(bytesRead).toBe(request.length)
  client.write('read meanwhile')
  await expect.poll(bytesRead).toBe(request.length + 14)
  choose((head) => {
    heads.push(head.toString())
    return true
  })
  await expect.poll(() => left).toEqual(['gone'])
  client.write('for the other process')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(heads).toEqual([`${request}read meanwhile`])
  expect(served).toEqual([])
})

test('one without a token is served here', async () => {
  const given: string[] = []
  const { client, served } = await open(async (shown) => {
    given.push(shown)
    return () => true
  })
  client.write('GET /healthz HTTP/1.1\r\n\r\n')
  await expect.poll(() => served).toEqual(['GET /healthz HTTP/1.1\r\n\r\n'])
  expect(given).toEqual([])
})

test('one that says nothing is closed in its time, and served nowhere', async () => {
  const { client, isServed } = await open(async () => () => true, 1)
  await once(client.resume(), 'close')
  expect(isServed()).toBe(false)
})
