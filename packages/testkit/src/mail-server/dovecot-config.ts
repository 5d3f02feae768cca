export type DovecotConfig = {
  readonly folder: string
  readonly imapPort: number
  readonly imapsPort: number
  /** Owner of the mail, and the user of the helper processes. */
  readonly mailUser: { readonly uid: number; readonly gid: number }
  readonly helpers: { readonly user: string; readonly group: string; readonly login: string } | null
  /** Extensions that the server keeps to itself, so that clients take their long way round. */
  readonly hides: readonly string[]
}

const specials = [
  ['Drafts', '\\Drafts'],
  ['Sent', '\\Sent'],
  ['Trash', '\\Trash'],
  ['Junk', '\\Junk'],
  ['Archive', '\\Archive'],
]

// Capabilities that Dovecot 2.3 tells after a login, of those that a client of ours may ask for.
const told = [
  ...['IMAP4rev1', 'SASL-IR', 'LOGIN-REFERRALS', 'ID', 'ENABLE', 'IDLE', 'LITERAL+', 'AUTH=PLAIN'],
  ...['NAMESPACE', 'UIDPLUS', 'LIST-EXTENDED', 'CONDSTORE', 'QRESYNC', 'ESEARCH', 'MOVE'],
  ...['SPECIAL-USE', 'STARTTLS', 'UNSELECT', 'CHILDREN'],
]

/** Dovecot 2.3 with everything in one folder: no system user, no PAM, nothing of /etc or /run. */
export const renderDovecotConfig = (c: DovecotConfig): string => `
base_dir = ${c.folder}/run
state_dir = ${c.folder}/state
instance_name = gatehouse-test
log_path = ${c.folder}/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <${c.folder}/cert.pem
ssl_key = <${c.folder}/key.pem
disable_plaintext_auth = no
auth_failure_delay = 0
first_valid_uid = 1
mail_fsync = never
mail_max_userip_connections = 100
mail_location = maildir:${c.folder}/mail/%u
${c.hides.length > 0 ? `imap_capability = ${told.filter((name) => !c.hides.includes(name)).join(' ')}` : ''}
${c.helpers ? `default_internal_user = ${c.helpers.user}\ndefault_internal_group = ${c.helpers.group}\ndefault_login_user = ${c.helpers.login}` : ''}
passdb {
  driver = passwd-file
  args = ${c.folder}/users
}
userdb {
  driver = static
  args = uid=${c.mailUser.uid} gid=${c.mailUser.gid} home=${c.folder}/mail/%u
}
namespace inbox {
  inbox = yes
  separator = /
${specials
  .map(
    ([name, use]) => `  mailbox ${name} {
    special_use = ${use}
    auto = subscribe
  }`,
  )
  .join('\n')}
}
service imap-login {
  chroot =
  service_count = 0
  inet_listener imap {
    port = ${c.imapPort}
  }
  inet_listener imaps {
    port = ${c.imapsPort}
    ssl = yes
  }
}
service anvil {
  chroot =
  # Failed logins of one test must not slow the next one's.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
`
