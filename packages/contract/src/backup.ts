import { z } from 'zod'

/** How a backup is locked: by a passphrase, or by a key of 32 bytes in hexadecimal. */
export const MakeBackup = z
  .strictObject({
    passphrase: z.string().min(12).max(1_024).optional(),
    key: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected 64 hexadecimal digits')
      .optional(),
    with_workspaces: z.boolean().default(false),
  })
  .refine(({ passphrase, key }) => (passphrase === undefined) !== (key === undefined), {
    message: 'give either passphrase or key',
    path: ['passphrase'],
  })
export type MakeBackup = z.infer<typeof MakeBackup>
