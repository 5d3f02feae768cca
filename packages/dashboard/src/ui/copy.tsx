import { useState } from 'react'
import { common } from '../messages/common.ts'
import { Button } from './button.tsx'

/** Copies the text, and says so on the button itself. */
export const CopyButton = ({
  text,
  label = common.copy,
}: {
  readonly text: string
  readonly label?: string
}) => {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2_000)
  }
  return (
    <Button icon={copied ? 'check' : 'copy'} onClick={() => void copy()}>
      <span aria-live="polite">{copied ? common.copied : label}</span>
    </Button>
  )
}

/** A command or a value to paste elsewhere. */
export const Snippet = ({ text, label }: { readonly text: string; readonly label?: string }) => (
  <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken p-2 max-sm:flex-col">
    <pre className="mono min-w-0 grow self-center whitespace-pre-wrap px-1 [overflow-wrap:anywhere] max-sm:w-full">
      <code>{text}</code>
    </pre>
    <CopyButton text={text} {...(label === undefined ? {} : { label })} />
  </div>
)
