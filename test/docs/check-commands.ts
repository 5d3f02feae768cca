import { commands } from '../../packages/cli/src/commands/index.ts'
import { parseCommand, splitCommand } from '../../packages/cli/src/parse.ts'

const names = new Set(commands.map(({ name }) => name))

/** Words of each `gatehouse` command in a block of shell, without what the shell does with it. */
export const readCommands = (text: string): string[][] =>
  text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, ''))
    .flatMap((line) => [...line.matchAll(/(?:^|[\s(])gatehouse ((?:"[^"]*"|'[^']*'|[^|<>;&)])+)/g)])
    .map(([, words = '']) =>
      (words.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) =>
        word.replaceAll(/["']/g, ''),
      ),
    )

/** Problems of commands that are not run here: names and options that do not exist. */
export const commandProblems = async (text: string): Promise<string[]> => {
  const problems = await Promise.all(
    readCommands(text).map(async (argv) => {
      const line = `gatehouse ${argv.join(' ')}`
      try {
        const { name, rest } = splitCommand(argv, names)
        const command = await commands.find((entry) => entry.name === name)?.load()
        if (!command) return [`${line}: there is no such command`]
        parseCommand(command, rest)
        return []
      } catch (error) {
        return [`${line}: ${String(error)}`]
      }
    }),
  )
  return problems.flat()
}
