/** The whole environment of git, but for what the sandbox gives. Nothing of the server's own is in it. */
export const environmentOf = (mount: string): Readonly<Record<string, string>> => ({
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  GIT_ALLOW_PROTOCOL: 'https',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_CEILING_DIRECTORIES: mount,
})

const settings = [
  // @SECURITY No setting names a program; git-config.test.ts runs every command against each of them.
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.alternateRefsCommand=true',
  'core.sshCommand=false',
  'core.pager=cat',
  'core.editor=true',
  'diff.external=',
  'credential.helper=',
  'protocol.ext.allow=never',
  'safe.bareRepository=explicit',
  'submodule.recurse=false',
  'gpg.program=false',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  // No work in the background, and no files beside what was asked for.
  'gc.auto=0',
  'maintenance.auto=false',
  'rerere.enabled=false',
  'fetch.recurseSubmodules=false',
  'push.recurseSubmodules=no',
  'i18n.logOutputEncoding=UTF-8',
  'advice.detachedHead=false',
]

/** Arguments before every command of git. */
export const fixedArguments: readonly string[] = [
  '--no-pager',
  ...settings.flatMap((setting) => ['-c', setting]),
]

/** No program shows a difference, and none makes text of a binary file. */
export const plainDiff: readonly string[] = ['--no-ext-diff', '--no-textconv', '--no-color']
