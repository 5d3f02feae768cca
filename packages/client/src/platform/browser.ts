import { Unreachable } from '../gatehouse-error.ts'
import type { OpenSocket } from './socket.ts'

/** As much of a browser's WebSocket as is used here. */
type BrowserSocket = {
  readyState: number
  onopen: (() => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: ((event: { readonly code: number }) => void) | null
  send(text: string): void
  close(): void
}
type Page = { readonly WebSocket: new (url: string, protocol: string) => BrowserSocket }

const open = 1

/** Pages can't set headers of an upgrade, so the token goes in the address, as the gate allows. */
export const openSocket: OpenSocket = (url, token, listener) =>
  new Promise((resolve, reject) => {
    const { WebSocket } = globalThis as unknown as Page
    const address = new URL(url)
    address.searchParams.set('token', token)
    const socket = new WebSocket(address.href, 'mcp')
    socket.onopen = () => {
      socket.onmessage = ({ data }) => typeof data === 'string' && listener.text(data)
      socket.onclose = ({ code }) => listener.closed(code)
      resolve({
        send(text) {
          if (socket.readyState !== open) return false
          socket.send(text)
          return true
        },
        close: () => socket.close(),
      })
    }
    // A page is not told why: no server, a wrong token and a foreign origin look the same.
    socket.onclose = () =>
      reject(new Unreachable(`No connection to ${address.origin} came about.`, { sent: false }))
  })

export const tokenOfEnvironment = (): string | undefined => undefined

export const readTokenFile = (): Promise<string> =>
  Promise.reject(new TypeError('A page reads no files: give the token itself.'))
