import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CliError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { renderFields } from '../table.ts'
import { shownTimes } from '../times.ts'
import { readAuthority } from '../trust/read-authority.ts'

async function readCertificate(file: string): Promise<X509Certificate> {
  try {
    return new X509Certificate(await readFile(file, 'utf8'))
  } catch (cause) {
    throw new CliError('NoCertificate', exitCodes.notFound, `There is no certificate in ${file}.`, {
      cause,
      recovery: [{ action: 'gatehouse serve', description: 'The first start makes it.' }],
    })
  }
}

export const tlsFingerprint = defineCommand({
  name: 'tls fingerprint',
  summary: "Show the fingerprints of the dashboard's certificate",
  examples: ['gatehouse tls fingerprint', 'gatehouse tls fingerprint --json'],
  async run({ dataDir: find, configFile }) {
    const dataDir = await find()
    const { loadSettings } = await import('@gatehouse/server/config/load')
    const { 'tls.cert': own } = loadSettings({
      'data-dir': dataDir,
      ...(configFile === undefined ? {} : { config: configFile }),
    })
    const file = own ?? join(dataDir, 'tls', 'cert.pem')
    const cert = await readCertificate(file)
    return {
      file,
      fingerprint: cert.fingerprint256,
      expires_at: new Date(cert.validTo).toISOString(),
      authority: own ? null : await readAuthority(dataDir),
    }
  },
  text: ({ file, fingerprint, expires_at, authority }, view) =>
    renderFields(
      [
        ['Certificate', file],
        ['Fingerprint', fingerprint],
        ['Expires', shownTimes(expires_at)],
        ...(authority
          ? ([
              ['Authority', authority.file],
              ['Fingerprint', authority.fingerprint],
              ['Expires', shownTimes(authority.expires_at)],
            ] as [string, string][])
          : []),
      ],
      view,
    ),
})
