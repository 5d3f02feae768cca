import { GatehouseError } from '@gatehouse/contract'

/** Variables that the service sets itself, for every program. */
const given = new Set([
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'PWD',
  'OLDPWD',
  'SHLVL',
  'SHELL',
  'USER',
  'LOGNAME',
  'UID',
  'EUID',
  'PPID',
  '_',
])

/** Single names by which a program is made to run, load or obey something else. */
const names = new Set([
  'IFS',
  'ENV',
  'CDPATH',
  'GLOBIGNORE',
  'PS4',
  'PROMPT_COMMAND',
  'EXECIGNORE',
  'HISTFILE',
  'TERMINFO',
  'TERMCAP',
  'NLSPATH',
  'LOCPATH',
  'GCONV_PATH',
  'GETCONF_DIR',
  'HOSTALIASES',
  'LOCALDOMAIN',
  'RES_OPTIONS',
  'RESOLV_HOST_CONF',
  'TZDIR',
  'MALLOC_TRACE',
  'PAGER',
  'EDITOR',
  'VISUAL',
  'BROWSER',
  'LESSOPEN',
  'LESSCLOSE',
  'LESS',
  'MORE',
  'TAR_OPTIONS',
  'MAKE',
  'CC',
  'CXX',
  'CPP',
  'LD',
  'AS',
  'AR',
  'RUSTC',
  'GO111MODULE',
  'EMACSLOADPATH',
  'VIMINIT',
  'EXINIT',
  'INPUTRC',
  'MANPAGER',
  'MANOPT',
  'RSYNC_RSH',
  'CVS_RSH',
  'SSH_ASKPASS',
  'SUDO_ASKPASS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'ZDOTDIR',
  'FPATH',
  'CLASSPATH',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'FTP_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'OPENSSL_CONF',
  'OPENSSL_MODULES',
  'OPENSSL_ENGINES',
])

/** Families: everything that begins so. */
const prefixes = [
  'LD_',
  'DYLD_',
  'GIT_',
  'PYTHON',
  'PERL',
  'RUBY',
  'NODE_OPTIONS',
  'NODE_PATH',
  'NODE_REPL',
  'NODE_EXTRA',
  'NODE_V8',
  'NODE_TLS',
  'NPM_',
  'YARN_',
  'PNPM_',
  'COREPACK_',
  'PIP_',
  'UV_',
  'POETRY_',
  'CONDA_',
  'VIRTUAL_ENV',
  'BASH_',
  'ZSH_',
  'KSH_',
  'FISH_',
  'SSH_',
  'SUDO_',
  'GEM_',
  'BUNDLE_',
  'CARGO_',
  'RUSTC_',
  'RUSTUP_',
  'RUSTDOC',
  'GOFLAGS',
  'GOPROXY',
  'GOENV',
  'GOROOT',
  'GOTOOL',
  'GOCACHE',
  'JAVA_',
  '_JAVA',
  'JDK_',
  'MAVEN_',
  'GRADLE_',
  'DOTNET_',
  'CORECLR_',
  'COMPLUS_',
  'PHP',
  'LUA_',
  'TCL',
  'R_',
  'DENO_',
  'BUN_',
  'ELECTRON_',
  'GCC_',
  'COMPILER_',
  'MAKEFLAGS',
  'MAKEFILES',
  'MFLAGS',
  'CMAKE_',
  'GDK_',
  'GTK_',
  'QT_',
  'XDG_',
  'DBUS_',
  'GIO_',
  'GST_',
  'GATEHOUSE_',
  'DOCKER_',
  'KUBE',
  'AWS_',
  'AZURE_',
  'GOOGLE_',
  'SYSTEMD_',
  'LISTEN_',
  'NOTIFY_',
]

/** Endings that speak of what is loaded, where it is found or which program does the work. */
const endings = [
  '_PRELOAD',
  'PATH',
  '_OPTIONS',
  'OPTS',
  '_STARTUP',
  '_HOOK',
  '_HOOKS',
  '_WRAPPER',
  '_COMMAND',
  '_SHELL',
  '_EDITOR',
  '_PAGER',
  '_PROXY',
  '_ASKPASS',
  '_HOME',
  '_RC',
  '_INIT',
  '_PROFILER',
  '_AGENT',
  '_PLUGINS',
  'OPT',
  'FLAGS',
]

const wellFormed = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/**
 * Why a variable is refused; null for those that remain, which are settings that a program reads as data. Case is not
 * looked at: some programs do not either.
 * @SECURITY A variable can run a file that nobody approved (environment.test.ts).
 */
export const refusedVariable = (name: string): string | null => {
  if (!wellFormed.test(name))
    return 'a name has letters, digits and _, and does not begin with a digit'
  const upper = name.toUpperCase()
  if (given.has(upper)) return 'the service sets it'
  const chooses =
    names.has(upper) ||
    prefixes.some((prefix) => upper.startsWith(prefix)) ||
    endings.some((ending) => upper.endsWith(ending))
  return chooses ? 'it can make a program load or run something else' : null
}

/** Refuses variables by which more would run than what is shown. */
export const assertEnvironment = (environment: Readonly<Record<string, string>>): void => {
  for (const name of Object.keys(environment)) {
    const detail = refusedVariable(name)
    if (detail !== null) throw new GatehouseError('EnvironmentRefused', { name, detail })
  }
}
