import { once } from 'node:events'
import { connect } from 'node:tls'

/** Fingerprint of the certificate that the dashboard shows, and what a client says of it that trusts this authority. */
export const seenCertificate = async (dashboardUrl: string, ca: Buffer): Promise<string> => {
  const port = Number(new URL(dashboardUrl).port)
  const socket = connect({
    host: '127.0.0.1',
    port,
    servername: 'localhost',
    ca,
    // Damaged ones are looked at, too; the verdict is in the answer, and nothing is sent.
    rejectUnauthorized: false,
  })
  try {
    await once(socket, 'secureConnect')
    const { fingerprint256 } = socket.getPeerCertificate()
    return socket.authorized
      ? fingerprint256
      : `${fingerprint256}: ${String(socket.authorizationError)}`
  } catch (cause) {
    return String(cause)
  } finally {
    socket.destroy()
  }
}
