import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const nonceBytes = 12
const tagBytes = 16
export const keyBytes = 32

export const newKey = (): Buffer => randomBytes(keyBytes)

/** AES-256-GCM under a random nonce: base64 of nonce, ciphertext and tag. `bound` is not stored, only proved. */
export function seal(key: Uint8Array, plain: Uint8Array, bound: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(bound, 'utf8'))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString(
    'base64',
  )
}

/** The plain bytes, or null for whatever is not exactly what `seal` made with this key and these bounds. */
export function unseal(key: Uint8Array, sealed: string, bound: string): Buffer | null {
  const bytes = Buffer.from(sealed, 'base64')
  // Two texts never mean the same bytes: base64 leaves bits at its end that nobody reads.
  if (bytes.toString('base64') !== sealed || bytes.length < nonceBytes + tagBytes) return null
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(bound, 'utf8'))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()])
  } catch {
    return null
  }
}
