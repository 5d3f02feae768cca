import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'

type Offered = { readonly tarball: Buffer; readonly packument: (origin: string) => object }

/** What a registry says of a package that was published from this tarball. */
const offer = (file: string, manifest: { readonly name: string; readonly version: string }) => {
  const tarball = readFileSync(file)
  const digest = (name: string, form: 'hex' | 'base64') =>
    createHash(name).update(tarball).digest(form)
  const packument = (origin: string) => ({
    name: manifest.name,
    'dist-tags': { latest: manifest.version },
    versions: {
      [manifest.version]: {
        ...manifest,
        // The registry notes it of a package with a npm-shrinkwrap.json, and npm reads that file then.
        _hasShrinkwrap: true,
        dist: {
          tarball: `${origin}/${manifest.name}/-/${basename(file)}`,
          shasum: digest('sha1', 'hex'),
          integrity: `sha512-${digest('sha512', 'base64')}`,
        },
      },
    },
  })
  return { tarball, packument }
}

/** A registry of npm that has one package of ours, and sends for all others to the usual one. */
export class PackageRegistry implements AsyncDisposable {
  readonly #server: Server
  readonly url: string

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(options: {
    readonly file: string
    readonly manifest: { readonly name: string; readonly version: string }
    readonly others: string
  }): Promise<PackageRegistry> {
    const { tarball, packument }: Offered = offer(options.file, options.manifest)
    const server = createServer((request, response) => {
      const path = decodeURIComponent(request.url ?? '/')
      if (path === `/${options.manifest.name}`) {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(packument(`http://${request.headers.host}`)))
      } else if (path === `/${options.manifest.name}/-/${basename(options.file)}`)
        response.end(tarball)
      else {
        response.writeHead(302, { location: new URL(`.${request.url}`, options.others).href })
        response.end()
      }
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new PackageRegistry(server)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}
