import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CliError } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'

export type Authority = {
  readonly file: string
  readonly fingerprint: string
  readonly expires_at: string
}

/** The local authority of an installation. */
export async function readAuthority(dataDir: string): Promise<Authority> {
  const file = join(dataDir, 'tls', 'ca.pem')
  try {
    const cert = new X509Certificate(await readFile(file, 'utf8'))
    return {
      file,
      fingerprint: cert.fingerprint256,
      expires_at: new Date(cert.validTo).toISOString(),
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new CliError(
        'DamagedAuthority',
        exitCodes.failed,
        `${file} cannot be read as a certificate.`,
        {
          cause,
          recovery: [
            { action: 'gatehouse doctor', description: 'See what is damaged, and what to do.' },
          ],
        },
      )
    throw new CliError('NoAuthority', exitCodes.notFound, `There is no authority in ${file}.`, {
      cause,
      recovery: [{ action: 'gatehouse serve', description: 'The first start makes it.' }],
    })
  }
}
