import type { Approval } from '@gatehouse/contract'
import { approvalsText } from '../../messages/approvals.ts'
import { Code, Diff, Json } from '../../ui/code.tsx'
import { Facts } from '../../ui/page.tsx'
import { Visible } from '../../ui/visible.tsx'

/** Preview of what will happen, as the service drew it up; nothing of it is left out. */
export const PreviewView = ({
  preview,
}: {
  readonly preview: NonNullable<Approval['preview']>
}) => {
  const label = approvalsText.whatHappens
  switch (preview.kind) {
    case 'command':
      return <Code text={preview.text} label={label} tall />
    case 'diff':
      return (
        <>
          {preview.path !== undefined && (
            <p className="mono mb-1 [overflow-wrap:anywhere]">
              <Visible text={preview.path} />
            </p>
          )}
          <Diff text={preview.text} label={label} path={preview.path} />
        </>
      )
    case 'url':
      return (
        <Code
          text={`${preview.method} ${preview.url}${preview.text === undefined ? '' : `\n\n${preview.text}`}`}
          label={label}
          tall
        />
      )
    case 'mail':
      return (
        <div className="grid gap-2">
          <Facts
            items={Object.entries(preview.headers).map(([name, value]) => [
              name,
              <Visible key={name} text={value} />,
            ])}
          />
          <Code text={preview.text} label={label} tall />
        </div>
      )
  }
}

const textOf = (value: unknown): string => JSON.stringify(value, null, 2)

/** The arguments that will run; as they were sent too, where defaults were filled in. */
export const Arguments = ({ approval }: { readonly approval: Approval }) => {
  const { arguments: sent, effective_arguments: effective } = approval
  return (
    <>
      <details open={approval.preview === null}>
        <summary className="py-1 text-ink-soft">{approvalsText.argumentsRun}</summary>
        <Json value={effective} label={approvalsText.argumentsRun} />
      </details>
      {textOf(sent) !== textOf(effective) && (
        <details>
          <summary className="py-1 text-ink-soft">{approvalsText.argumentsSent}</summary>
          <Json value={sent} label={approvalsText.argumentsSent} />
        </details>
      )}
    </>
  )
}
