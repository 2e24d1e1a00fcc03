/** Serves workspaces to an editor over the Agent Client Protocol. */
export { type EditorServer, type ServeEditorOptions, serveEditor } from './serve.ts'
