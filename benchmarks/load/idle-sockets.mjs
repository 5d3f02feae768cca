// Opens WebSockets and leaves them alone until its input ends. Prints how many are open.
// Arguments: address, how many for each token, tokens.
import { once } from 'node:events'
import { WebSocket } from 'ws'

const [address, each, ...tokens] = process.argv.slice(2)
const sockets = []
for (const token of tokens) {
  for (let opened = 0; opened < Number(each); opened += 50) {
    const some = Array.from({ length: Math.min(50, Number(each) - opened) }, () => {
      const headers = { authorization: `Bearer ${token}` }
      return new WebSocket(address, { perMessageDeflate: false, headers })
    })
    await Promise.all(some.map((socket) => once(socket, 'open')))
    sockets.push(...some)
  }
}
process.stdout.write(`${sockets.length}\n`)
process.stdin.resume()
await once(process.stdin, 'end')
process.exit(0)
