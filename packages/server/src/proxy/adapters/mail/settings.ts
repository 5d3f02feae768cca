import { isIP } from 'node:net'
import { z } from 'zod'

const hostPattern = /^[A-Za-z0-9.:_-]+$/
const host = (what: string) =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(hostPattern, 'a host name or an address, without a scheme or a port')
    .transform((name) => name.toLowerCase())
    .describe(what)
const port = z.int().min(1).max(65_535)
const security = z.enum(['tls', 'starttls', 'plain'])
const line = z.string().regex(/^[^\p{Cc}]*$/u, 'one line without control characters')

/** Whether a host is this machine: the only one that may be spoken to without TLS. */
export const isLoopback = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  name === '::1' ||
  (isIP(name) === 4 && name.startsWith('127.'))

// A host that is none has its own complaint already.
const isClear = (how: string, name: string): boolean =>
  how === 'plain' && hostPattern.test(name) && !isLoopback(name)

/** Settings that an operator enters to connect a mailbox. The passwords are no part of it. */
export const mailSettings = z
  .strictObject({
    address: z
      .email('an e-mail address such as ana@example.org')
      .max(254)
      .describe('The address that mail is sent from.'),
    name: line.max(200).default('').describe('The name that stands beside the address.'),
    user: line.min(1).max(254).optional().describe('The user to log in as. Default: the address.'),
    imap_host: host('Where mail is read, such as imap.example.org.'),
    imap_port: port.optional().describe('Default 993, or 143 with starttls or plain.'),
    imap_security: security
      .default('tls')
      .describe('tls from the first byte, starttls, or plain (only for this machine).'),
    smtp_host: host('Where mail is sent, such as smtp.example.org.'),
    smtp_port: port.optional().describe('Default 465, or 587 with starttls, or 25 with plain.'),
    smtp_security: security
      .default('tls')
      .describe('tls from the first byte, starttls, or plain (only for this machine).'),
    smtp_user: line
      .max(254)
      .optional()
      .describe('The user at the SMTP server. Default: the same as for IMAP; empty: no login.'),
    ca_certificate: z
      .string()
      .max(65_536)
      .regex(/-----BEGIN CERTIFICATE-----/, 'a certificate in PEM form')
      .optional()
      .describe('The authority of the servers, in PEM form, where it is none of the usual ones.'),
    sent_copy: z
      .enum(['append', 'server'])
      .default('append')
      .describe('Who stores a copy of sent mail in the folder Sent: Gatehouse, or the server.'),
    skip_folders: z
      .array(z.string().max(1_000))
      .max(200)
      .default([])
      .describe('Folders that are not read, such as All Mail; `*` stands for anything.'),
  })
  .superRefine((settings, refuse) => {
    for (const side of ['imap', 'smtp'] as const)
      if (isClear(settings[`${side}_security`], settings[`${side}_host`]))
        refuse.addIssue({
          code: 'custom',
          path: [`${side}_security`],
          message: 'plain would send the password in the clear: use tls or starttls',
        })
  })
export type MailSettings = z.output<typeof mailSettings>

export type Endpoint = {
  readonly host: string
  readonly port: number
  readonly security: z.output<typeof security>
  readonly user: string
  /** Of the vault. */
  readonly secret: string
}

/** The credentials a mailbox needs. */
export const mailSecrets = [
  {
    name: 'password',
    description: 'The password of the mailbox, or an app password.',
    required: true,
  },
  {
    name: 'smtp_password',
    description: 'The password for sending, where it is another one.',
    required: false,
  },
] as const

export const imapEndpoint = (settings: MailSettings): Endpoint => ({
  host: settings.imap_host,
  port: settings.imap_port ?? (settings.imap_security === 'tls' ? 993 : 143),
  security: settings.imap_security,
  user: settings.user ?? settings.address,
  secret: 'password',
})

const smtpPorts = { tls: 465, starttls: 587, plain: 25 } as const

export const smtpEndpoint = (settings: MailSettings, secrets: readonly string[]): Endpoint => ({
  host: settings.smtp_host,
  port: settings.smtp_port ?? smtpPorts[settings.smtp_security],
  security: settings.smtp_security,
  user: settings.smtp_user ?? settings.user ?? settings.address,
  secret: secrets.includes('smtp_password') ? 'smtp_password' : 'password',
})
