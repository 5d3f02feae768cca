// Reporter of vitest beside its own, which says why tests failed when all have ended: a run that is stopped before says it, too.

/** Frames of the runner say nothing of the test. */
const ofRunner = /\n +at .*(?:node_modules|new Promise \(<anonymous>\)).*/g

const told = ({ message = '', stack = message, diff = '' }) =>
  [
    stack.includes(message) ? '' : message,
    stack.replaceAll(ofRunner, ''),
    diff.replaceAll(/\u001b\[\d+m/g, ''),
  ]
    .filter(Boolean)
    .join('\n')

/** Text of one failure: which test it is, each error, and what was expected beside what was there. */
export const failureText = (name, errors) => `\nFailed: ${name}\n${errors.map(told).join('\n')}\n`

export default class TellFailures {
  onTestCaseResult(test) {
    const { state, errors = [] } = test.result()
    if (state !== 'failed') return
    console.error(failureText(`${test.module.relativeModuleId} > ${test.fullName}`, errors))
  }

  onTestModuleEnd(module) {
    const errors = module.errors()
    if (errors.length > 0) console.error(failureText(module.relativeModuleId, errors))
  }
}
