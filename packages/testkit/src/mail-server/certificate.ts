import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

export type TestCertificate = {
  readonly certFile: string
  readonly keyFile: string
  /** PEM of the certificate, which is also its own authority. */
  readonly cert: string
  readonly key: string
}

/** A certificate that names localhost and 127.0.0.1, made by OpenSSL, which Dovecot's package brings along. */
export const makeCertificate = async (folder: string): Promise<TestCertificate> => {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-keyout', keyFile, '-out', certFile, '-days', '2', '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
  ])
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
  return { certFile, keyFile, cert, key }
}
