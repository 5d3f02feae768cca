import { request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import type { Invite } from '@gatehouse/contract/node-invite'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'

const timeoutMs = 10_000
const answerBytesMax = 64 * 1024

const unreachable = (url: string, cause: unknown): CliError =>
  new CliError('NodeUnreachable', exitCodes.notReachable, `${url} does not answer.`, {
    cause,
    recovery: [
      {
        action: 'dashboard_host',
        description:
          'The node that invites has to serve its dashboard on an address that this machine reaches; --url of `nodes invite` names it.',
      },
    ],
  })

/**
 * A connection to the very node that made the invitation.
 * @SECURITY The certificate is compared before the secret is sent; test/several-nodes.test.ts, "another".
 */
const connectTo = ({ url, fingerprint }: Invite): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const host = hostname.replace(/^\[|\]$/g, '')
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false })
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer in time')))
    socket.once('error', (cause) => reject(unreachable(url, cause)))
    socket.once('secureConnect', () => {
      if (socket.getPeerCertificate().fingerprint256 === fingerprint) return resolve(socket)
      socket.destroy()
      reject(
        new CliError(
          'WrongNode',
          exitCodes.failed,
          `${url} has another certificate than the node that made this token; nothing was sent.`,
          {
            recovery: [
              { action: 'gatehouse nodes invite', description: 'Make a new token on the node.' },
            ],
          },
        ),
      )
    })
  })

/** The answer to the secret of the invitation: its status and its text. */
export async function fetchNodeKeys(
  invite: Invite,
): Promise<{ readonly status: number; readonly text: string }> {
  const socket = await connectTo(invite)
  const body = JSON.stringify({ secret: invite.secret })
  return new Promise((resolve, reject) => {
    const asked = request(
      new URL('/api/nodes/admit', invite.url),
      {
        method: 'POST',
        createConnection: () => socket,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          text += chunk
          if (text.length > answerBytesMax) asked.destroy(new Error('the answer is too long'))
        })
        answer.once('end', () => {
          socket.destroy()
          resolve({ status: answer.statusCode ?? 0, text })
        })
      },
    )
    asked.once('error', (cause) => reject(unreachable(invite.url, cause)))
    asked.end(body)
  })
}
