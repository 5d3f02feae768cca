import { expect, test } from 'vitest'
import { assertEnvironment } from './environment.ts'

const choosers = [
  'LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS BASH_ENV ENV',
  'SHELLOPTS PS4 IFS PROMPT_COMMAND PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5OPT PERL5LIB RUBYOPT RUBYLIB GIT_SSH_COMMAND',
  'GIT_CONFIG_COUNT GIT_EXEC_PATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS CLASSPATH',
  'DOTNET_STARTUP_HOOKS CORECLR_PROFILER PHPRC PHP_INI_SCAN_DIR LUA_INIT RUSTC_WRAPPER CARGO_HOME GOFLAGS CFLAGS MAKEFLAGS',
  'EDITOR PAGER VISUAL LESSOPEN BROWSER SSH_ASKPASS HTTP_PROXY https_proxy ALL_PROXY SSL_CERT_FILE OPENSSL_CONF',
  'npm_config_script_shell NPM_CONFIG_REGISTRY PIP_INDEX_URL XDG_CONFIG_HOME R_PROFILE TERMINFO GCONV_PATH MALLOC_TRACE',
  'ld_preload Node_Options EXAMPLE_PRELOAD EXAMPLE_STARTUP EXAMPLE_WRAPPER GATEHOUSE_DATA_DIR',
].flatMap((line) => line.split(' '))

test.each(choosers)('refuses %s, by name', (name) => {
  expect(() => assertEnvironment({ GREETING: 'hi', [name]: 'x' })).toThrowError(
    expect.objectContaining({
      type: 'EnvironmentRefused',
      message: expect.stringContaining(`${name} cannot be set`),
    }),
  )
})

test.each(['PATH', 'HOME', 'TMPDIR', 'LANG', 'path'])(
  'refuses %s, which the service sets',
  (name) => {
    expect(() => assertEnvironment({ [name]: '/x' })).toThrow('the service sets it')
  },
)

test.each(['', '1A', 'A B', 'A=B', 'A-B', 'BASH_FUNC_x%%', 'Ä', 'A\n', `A${'B'.repeat(128)}`])(
  'refuses %j, which is no name of a variable',
  (name) => {
    expect(() => assertEnvironment({ [name]: 'x' })).toThrow('cannot be set')
  },
)

test('leaves settings that a program reads as data', () => {
  const names =
    'CI DEBUG NODE_ENV TZ LC_ALL TERM NO_COLOR FORCE_COLOR COLUMNS GREETING my_setting RUST_LOG RUST_BACKTRACE PORT DATABASE_URL SEED'
  const all = Object.fromEntries(names.split(' ').map((name) => [name, '1']))
  expect(() => assertEnvironment(all)).not.toThrow()
})
