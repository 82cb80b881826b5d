# Broadsheet behind Varnish 7, which keeps answers between readers. It speaks no TLS: Caddy or nginx goes before it.
# Every rule about what may be kept, for how long and for whom is in Broadsheet's own headers: this adds none.
# Broadsheet needs the addresses of Varnish and of whatever is before it in TRUSTED_PROXIES.
vcl 4.1;

backend desk {
  .host = "127.0.0.1";
  .port = "4321";
}

backend records {
  .host = "127.0.0.1";
  .port = "4322";
}

sub vcl_recv {
  if (req.http.Host ~ "^records\.example(:|$)") {
    set req.backend_hint = records;
  } else {
    set req.backend_hint = desk;
  }
  # Events are passed on as they come.
  if (req.url ~ "^/v1/stream") {
    return (pipe);
  }
}

sub vcl_pipe {
  # A piped connection stays with its backend: it carries this one request.
  set bereq.http.Connection = "close";
}
