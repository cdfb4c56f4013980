/* Closed- or open-loop clients of the service in one thread, so cheap that the server keeps its core.

   load PORTS TRIALS RECOMMEND REPORT TOKEN CLIENTS SECONDS PAIRS RATE SEED

   PORTS and TRIALS are lists with commas; client i uses port i mod their number and trial i mod theirs. RECOMMEND and
   REPORT are paths in which {trial} and {id} are replaced. A client asks for a recommendation, then reports on it: a
   pair. No pair begins after SECONDS or beyond PAIRS (0: no such limit), but every pair that was due is finished. With
   RATE (pairs a second, 0: as fast as answers come) pair k is due at k / RATE, and its recommendation is timed from
   then, however late its client came to it: a server that stalls is charged for everyone who waited. Prints JSON. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST_LISTED = 256, REQUEST = 4096, ANSWER = 65536, NAME = 256, LOST = 0, STATUSES = 1000 };
enum step { IDLE, RECOMMENDING, REPORTING };

struct client {
    int socket, port;
    const char *trial;
    enum step step;
    double due, sent_at; /* when the pair should begin; what the request under way is timed from */
    uint64_t turn;       /* of this client's pairs */
    char recommendation[NAME], arm[NAME], answer[ANSWER];
    size_t received;
};

struct sample { double *values; size_t count, room; };

static const char *recommend_path, *report_path, *token;
static struct sample took[2];
static uint64_t errors[STATUSES], random_state, subjects;
static int poll_set;

static void fail(const char *what) {
    fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "");
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static uint64_t random_word(void) { /* splitmix64 */
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void keep(struct sample *sample, double value) {
    if (sample->count == sample->room) {
        sample->room = sample->room ? 2 * sample->room : 1 << 16;
        if (!(sample->values = realloc(sample->values, sample->room * sizeof(double)))) fail("memory");
    }
    sample->values[sample->count++] = value;
}

static void fill(char *path, size_t room, const char *template, const char *trial, const char *id) {
    size_t used = 0;
    while (*template && used + NAME < room) {
        if (!strncmp(template, "{trial}", 7)) {
            used += snprintf(path + used, room - used, "%s", trial);
            template += 7;
        } else if (!strncmp(template, "{id}", 4)) {
            used += snprintf(path + used, room - used, "%s", id);
            template += 4;
        } else {
            path[used++] = *template++;
        }
    }
    path[used] = 0;
}

static void connect_client(struct client *client) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(client->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1;
    if ((client->socket = socket(AF_INET, SOCK_STREAM, 0)) < 0) fail("socket");
    if (connect(client->socket, (struct sockaddr *)&address, sizeof address)) fail("connect");
    setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    if (epoll_ctl(poll_set, EPOLL_CTL_ADD, client->socket, &event)) fail("epoll_ctl");
}

static void lose(struct client *client) { /* the pair is given up; the next one has a new connection */
    errors[LOST]++;
    close(client->socket);
    connect_client(client);
    client->step = IDLE;
}

static void post(struct client *client, enum step step) {
    char path[1024], body[2 * NAME], request[REQUEST];
    uint64_t a = random_word(), b = random_word();
    int reporting = step == REPORTING;
    fill(path, sizeof path, reporting ? report_path : recommend_path, client->trial, client->recommendation);
    int length = reporting
                     ? snprintf(body, sizeof body, "{\"actual\":\"%s\",\"reward\":%d}", client->arm, (int)(a & 1))
                     : snprintf(body, sizeof body, "{\"subject\":\"s%llu-%08x\"}", (unsigned long long)subjects++,
                                (unsigned)random_word());
    int size = snprintf(request, sizeof request,
                        "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                        "Idempotency-Key: %08x-%04x-%04x-%04x-%012llx\r\n"
                        "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                        path, token, (unsigned)(a >> 32), (unsigned)(a >> 16) & 0xffff,
                        0x4000 | ((unsigned)a & 0xfff), 0x8000 | ((unsigned)(b >> 48) & 0x3fff),
                        (unsigned long long)(b & 0xffffffffffffu), length, body);
    client->step = step;
    client->received = 0;
    if (send(client->socket, request, size, MSG_NOSIGNAL) != size) lose(client);
}

/* The status of a whole answer, 0 while some of it is missing, -1 if it cannot be read. */
static int whole_answer(struct client *client, const char **body) {
    client->answer[client->received] = 0;
    char *end = strstr(client->answer, "\r\n\r\n");
    if (!end) return client->received + 1 < ANSWER ? 0 : -1;
    int status = atoi(client->answer + 9); /* after "HTTP/1.1 " */
    char *length = strcasestr(client->answer, "\r\ncontent-length:");
    if (status < 100 || status >= STATUSES || !length || length > end) return -1;
    *body = end + 4;
    size_t size = (size_t)(*body - client->answer) + strtoul(length + 17, NULL, 10);
    if (size >= ANSWER) return -1;
    return client->received >= size ? status : 0;
}

/* Copy the text of a field, still escaped, as it goes back; 0 if there is none. */
static int read_text(char *to, const char *body, const char *field) {
    const char *text = strstr(body, field);
    if (!text) return 0;
    text += strlen(field);
    text += strcspn(text, "\"");
    if (!*text++) return 0;
    size_t size = 0;
    while (text[size] && text[size] != '"') size += text[size] == '\\' && text[size + 1] ? 2 : 1;
    if (text[size] != '"' || size >= NAME) return 0;
    memcpy(to, text, size);
    to[size] = 0;
    return 1;
}

static int read_recommendation(struct client *client, const char *body) {
    return read_text(client->recommendation, body, "\"recommendation_id\":") && read_text(client->arm, body, "\"arm\":");
}

/* Take what came; 1 if that finished a pair. */
static int hear(struct client *client) {
    ssize_t got = recv(client->socket, client->answer + client->received, ANSWER - 1 - client->received, 0);
    const char *body = NULL;
    if (got > 0) client->received += got;
    int status = got > 0 && client->step != IDLE ? whole_answer(client, &body) : -1;
    if (status < 0) lose(client);
    if (status <= 0) return 0;
    double at = now();
    int reported = client->step == REPORTING;
    client->step = IDLE;
    if (status < 200 || status > 299) {
        errors[status]++;
        return 0;
    }
    keep(&took[reported], at - client->sent_at);
    if (reported) return 1;
    if (!read_recommendation(client, body)) {
        errno = 0;
        fail("an answer without \"recommendation_id\" and \"arm\"");
    }
    client->sent_at = at;
    post(client, REPORTING);
    return 0;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_sample(const char *name, struct sample *sample) {
    size_t n = sample->count;
    qsort(sample->values, n, sizeof(double), ascending);
    printf("\"%s\": {\"count\": %zu", name, n);
    const char *names[] = {"p50", "p90", "p99", "max"};
    const double shares[] = {0.5, 0.9, 0.99, 1.0};
    for (int q = 0; q < 4; q++) {
        size_t rank = (size_t)(shares[q] * n + 0.999999); /* the smallest value that so many do not exceed */
        if (n) printf(", \"%s\": %.4f", names[q], 1e3 * sample->values[(rank ? rank : 1) - 1]);
    }
    printf("}");
}

static int listed(char *text, char **items) {
    int count = 0;
    for (char *item = strtok(text, ","); item && count < MOST_LISTED; item = strtok(NULL, ",")) items[count++] = item;
    return count;
}

int main(int argc, char **argv) {
    if (argc != 11) fail("see load.c for its arguments");
    char *ports[MOST_LISTED], *trials[MOST_LISTED];
    int n_ports = listed(argv[1], ports), n_trials = listed(argv[2], trials), n = atoi(argv[6]);
    recommend_path = argv[3], report_path = argv[4], token = argv[5];
    double seconds = atof(argv[7]), rate = atof(argv[9]);
    uint64_t most = strtoull(argv[8], NULL, 10), begun = 0, pairs = 0;
    random_state = strtoull(argv[10], NULL, 10);
    if (!n_ports || !n_trials || n < 1 || (seconds <= 0 && !most)) fail("see load.c for its arguments");

    struct client *clients = calloc(n, sizeof *clients);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    if (!clients || timer < 0 || (poll_set = epoll_create1(0)) < 0) fail("set-up");
    struct epoll_event alarm_event = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll_ctl(poll_set, EPOLL_CTL_ADD, timer, &alarm_event)) fail("epoll_ctl");
    for (int i = 0; i < n; i++) {
        clients[i].port = atoi(ports[i % n_ports]);
        clients[i].trial = trials[i % n_trials];
        connect_client(&clients[i]);
    }
    double start = now(), finished = start;
    for (;;) {
        int busy = 0;
        double at = now(), next = 0;
        for (int i = 0; i < n; i++) {
            struct client *client = &clients[i];
            if (client->step == IDLE) {
                client->due = rate > 0 ? start + (client->turn * n + i) / rate : at;
                if ((seconds > 0 && client->due >= start + seconds) || (most && begun >= most)) continue;
                if (client->due <= at) {
                    begun++, client->turn++;
                    client->sent_at = client->due;
                    post(client, RECOMMENDING);
                } else if (!next || client->due < next) {
                    next = client->due;
                }
            }
            busy = 1;
        }
        if (!busy) break;
        if (next) {
            struct itimerspec when = {.it_value = {(time_t)next, (long)(1e9 * (next - (double)(time_t)next))}};
            timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
        }
        struct epoll_event events[256];
        int ready = epoll_wait(poll_set, events, 256, -1);
        if (ready < 0 && errno != EINTR) fail("epoll_wait");
        for (int e = 0; e < ready; e++) {
            struct client *client = events[e].data.ptr;
            uint64_t expirations;
            if (!client) {
                if (read(timer, &expirations, sizeof expirations) < 0) fail("timer");
            } else if (hear(client)) {
                pairs++;
                finished = now();
            }
        }
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    printf("{\"pairs\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"errors\": {", (unsigned long long)pairs,
           finished - start, cpu);
    int some = 0;
    for (int status = 0; status < STATUSES; status++) {
        if (!errors[status]) continue;
        printf("%s\"%.0d%s\": %llu", some++ ? ", " : "", status, status == LOST ? "lost" : "",
               (unsigned long long)errors[status]);
    }
    printf("}, ");
    print_sample("recommend", &took[0]);
    printf(", ");
    print_sample("report", &took[1]);
    printf(", ");
    for (size_t k = 0; k < took[1].count; k++) keep(&took[0], took[1].values[k]);
    print_sample("overall", &took[0]);
    printf("}\n");
    return 0;
}
