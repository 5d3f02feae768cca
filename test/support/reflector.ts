import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority, issueLeaf } from '../../packages/server/src/tls/issue.ts'

/** An HTTPS server under an authority of its own, that notes which secret it was sent. */
export type Reflector = AsyncDisposable & {
  readonly url: string
  readonly port: number
  readonly caFile: string
  /** The header `x-key` of each request. */
  readonly received: string[]
}

export async function openReflector(listener: RequestListener): Promise<Reflector> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-reflector-'))
  const caFile = join(folder, 'ca.pem')
  const names = { dns: ['reflector.example'], ip: ['127.0.0.1'] }
  const authority = await issueAuthority({ names, nowMs: Date.now() })
  writeFileSync(caFile, authority.cert)
  const { cert, key } = await issueLeaf({ authority, names, nowMs: Date.now() })
  const received: string[] = []
  const server = createServer({ cert, key }, (request, response) => {
    const given = request.headers['x-key']
    if (typeof given !== 'string') {
      response.end('no key')
      return
    }
    received.push(given)
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    caFile,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
