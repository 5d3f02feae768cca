import { existsSync } from 'node:fs'

const places = {
  bwrap: '/usr/bin/bwrap',
  git: '/usr/bin/git',
  dovecot: '/usr/sbin/dovecot',
  radicale: '/usr/bin/radicale',
  chromium: '/usr/bin/chromium',
} as const

/** Whether the test set-up could get this program. A suite that needs it is skipped where it is not, and named by the set-up. */
export const hasProgram = (name: keyof typeof places): boolean => existsSync(places[name])
