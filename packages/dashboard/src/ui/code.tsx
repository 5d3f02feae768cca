import { cx } from './cx.ts'
import { Visible } from './visible.tsx'

/** Text as it is, complete, with lines kept; it scrolls by itself where it is long. */
export const Code = ({
  text,
  label,
  tall = false,
}: {
  readonly text: string
  readonly label: string
  readonly tall?: boolean
}) => (
  // An element that scrolls takes the focus, so that a keyboard can scroll it.
  <pre
    role="group"
    aria-label={label}
    tabIndex={0}
    className={cx(
      'mono overflow-auto whitespace-pre-wrap rounded-lg border border-line bg-sunken p-3 [overflow-wrap:anywhere]',
      tall ? 'max-h-[60vh]' : 'max-h-96',
    )}
  >
    <code>
      <Visible text={text} lines />
    </code>
  </pre>
)

export const Json = ({
  value,
  label,
  tall = false,
}: {
  readonly value: unknown
  readonly label: string
  readonly tall?: boolean
}) => <Code text={JSON.stringify(value, null, 2)} label={label} tall={tall} />

const lineLook = (line: string): string => {
  if (line.startsWith('@@')) return 'text-accent'
  if (line.startsWith('+')) return 'bg-good-soft text-good'
  if (line.startsWith('-')) return 'bg-bad-soft text-bad'
  return ''
}

/** Lines above the first change; none where they only name the file that stands above them anyway. */
function headerOf(lines: readonly string[], path: string | undefined): readonly string[] {
  const named = lines.every((line) =>
    ['', `Index: ${path}`, `--- ${path}`, `+++ ${path}`].includes(
      line.replace(/^=+$/, '').trimEnd(),
    ),
  )
  return named ? [] : lines
}

/** A unified difference, coloured by line; the signs say the same without colours. */
export const Diff = ({
  text,
  label,
  path,
}: {
  readonly text: string
  readonly label: string
  /** Of the file, where it is shown above. */
  readonly path?: string | undefined
}) => {
  const lines = text.replace(/\n$/, '').split('\n')
  // A line that begins with --- further down is a line of the file.
  const begins = Math.max(
    0,
    lines.findIndex((line) => line.startsWith('@@')),
  )
  const header = headerOf(lines.slice(0, begins), path)
  return (
    <pre
      role="group"
      aria-label={label}
      tabIndex={0}
      className="mono max-h-[60vh] overflow-auto rounded-lg border border-line bg-sunken py-2 max-sm:whitespace-pre-wrap max-sm:[overflow-wrap:anywhere]"
    >
      <code className="block min-w-full sm:w-max">
        {[...header, ...lines.slice(begins)].map((line, at) => (
          // Lines have no identity but their place.
          <span
            key={`${at}`}
            className={cx('block px-3', at < header.length ? 'text-ink-soft' : lineLook(line))}
          >
            <Visible text={line} lines />
            {'\n'}
          </span>
        ))}
      </code>
    </pre>
  )
}
