import type { IncomingMessage } from 'node:http'

/** Headers of one connection, and those that the node which took the request has judged. */
const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'],
  ...['content-length', 'upgrade', 'http2-settings', 'expect', 'host', 'origin', 'x-forwarded-for'],
])
const ofUpgrade = new Set(['authorization', 'host', 'origin', 'x-forwarded-for'])
const ofAnswer = new Set(['keep-alive', 'transfer-encoding', 'date'])

type Headers = readonly string[]

const filter = (raw: Headers, keeps: (name: string, value: string) => boolean): string[] => {
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const [name = '', value = ''] = [raw[i], raw[i + 1]]
    if (keeps(name.toLowerCase(), value)) kept.push(name, value)
  }
  return kept
}

/** Headers that the node which took the request adds: the name by which every node answers, and who asks. */
const added = (address: string | undefined): string[] => [
  ...['Host', 'localhost'],
  ...(address === undefined ? [] : ['X-Forwarded-For', address]),
]

/** Headers of a request for another node, with a body of so many bytes: names and values in turn. */
export const requestHeaders = (
  raw: Headers,
  address: string | undefined,
  bytes: number,
): string[] => [
  ...added(address),
  ...['Content-Length', String(bytes)],
  ...filter(raw, (name) => !ofConnection.has(name)),
]

/** Head of an upgrade for another node. The token is in its headers, wherever it stood. */
export const requestText = (
  { method, url, rawHeaders }: IncomingMessage,
  { token, address }: { readonly token: string; readonly address: string | undefined },
): Buffer => {
  const headers = [
    ...added(address),
    ...['Authorization', `Bearer ${token}`],
    ...filter(rawHeaders, (name) => !ofUpgrade.has(name)),
  ]
  const lines = [`${method} ${url} HTTP/1.1`]
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/** Headers of an answer for whoever asked here. That the connection is to be closed holds for both. */
export const answerHeaders = (raw: Headers): string[] =>
  filter(raw, (name, value) =>
    name === 'connection' ? value.toLowerCase() === 'close' : !ofAnswer.has(name),
  )
